import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../helpers/free-port.js';
import type { Cluster } from './cluster.js';

/** Whether the program is there. */
export const HAS_PGBOUNCER = !spawnSync('pgbouncer', ['--version']).error;

/** A PgBouncer in transaction mode, with few connections to its PostgreSQL. */
export interface Pooler {
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPooler({ url, folder }: Cluster): Promise<Pooler> {
  const { port: behind } = new URL(url);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const settings = `[databases]
* = host=127.0.0.1 port=${behind} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
`;
  writeFileSync(file, settings, { mode: 0o644 });
  let running: ChildProcess | undefined;
  const pooler = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async start() {
      const whole = ['pgbouncer', file];
      if (process.getuid?.() === 0) whole.unshift('setpriv', '--reuid=postgres', '--clear-groups');
      const [program = '', ...args] = whole;
      const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      running = child;
      for await (const text of child.stderr
        .setEncoding('utf8')
        .iterator({ destroyOnReturn: false })) {
        if (String(text).includes('process up')) break;
      }
      child.stderr.resume();
    },
    async stop() {
      const ended = running && once(running, 'exit');
      running?.kill('SIGKILL');
      await ended;
    },
  };
  await pooler.start();
  return pooler;
}
