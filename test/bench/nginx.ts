import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start, temporaryFolder } from './child.js';
import { freePort } from '../helpers/free-port.js';
import { taken } from './ports.js';
import { systemOf, type System } from './system.js';
import { KINDS } from './wording.js';

const WAIT_MS = 5_000;
const PATHS = [process.env.PATH, '/usr/sbin', '/usr/local/sbin'].join(':');

/** nginx as a plain `proxy_pass`, one worker; undefined where it is not installed. */
export async function startNginx(upstream_port: number): Promise<System | undefined> {
  const env = { PATH: PATHS };
  if (spawnSync('nginx', ['-v'], { env }).error) return undefined;
  const folder = temporaryFolder();
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, port, upstream_port));
  const child = start('nginx', ['-p', folder, '-c', file, '-e', 'error.log'], {
    side: 'system',
    env,
  });
  await taken(port, child, WAIT_MS);
  return systemOf(child, { name: 'nginx proxy_pass', kinds: KINDS, port });
}

/** Without a master there is one process, whose CPU time is the whole of it. */
function configuration(folder: string, port: number, upstream_port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    master_process off;
    pid ${folder}/nginx.pid;
    error_log ${folder}/error.log;
    events { worker_connections 4096; }
    http {
      access_log off;
      keepalive_requests 100000000;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n      ')}
      upstream fake {
        server 127.0.0.1:${upstream_port};
        keepalive 1024;
        keepalive_requests 100000000;
      }
      server {
        listen 127.0.0.1:${port} backlog=4096;
        location / {
          proxy_pass http://fake;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
        }
      }
    }`;
}
