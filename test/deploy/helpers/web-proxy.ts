import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket, type ClientOptions } from 'ws';
import { taken } from '../../bench/ports.js';
import { freePort } from '../../helpers/free-port.js';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const START_MS = 60_000;
/** Debian keeps servers where the path of an ordinary user does not look. */
const PATH = [process.env.PATH, '/usr/sbin', '/usr/local/sbin'].join(':');
const DOMAIN = 'ai.example.com';

/** A shipped proxy in front of a server on loopback. */
export interface WebProxy {
  /** A request through it, as clients of the domain send it. */
  send(options: RequestOptions, body?: string): Promise<IncomingMessage>;
  /** A WebSocket through it. */
  socket(path: string, headers: Record<string, string>): WebSocket;
  close(): Promise<void>;
}

/**
 * False where the program is not installed and its tests are therefore pending. Where
 * `TOLLGATE_TEST_DEPLOY_TOOLS` is set, as in continuous integration, a missing program is an error.
 */
export function isInstalled(program: string): boolean {
  if (!spawnSync(program, ['--help'], { env: { ...process.env, PATH } }).error) return true;
  if (process.env.TOLLGATE_TEST_DEPLOY_TOOLS) throw new Error(`${program} is not installed.`);
  return false;
}

/** Runs a program to its end; answers its status and all that it printed. */
export function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { status: number | null; output: string } {
  const options = { encoding: 'utf8', env: { ...process.env, PATH, ...env } } as const;
  const { status, stdout, stderr } = spawnSync(program, args, options);
  return { status, output: stdout + stderr };
}

/** deploy/nginx.conf with other ports and a certificate, and around it what Debian's file has. */
export async function prepareNginx(
  ...upstream_ports: readonly number[]
): Promise<{ folder: string; port: number; args: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-nginx-'));
  const port = await freePort();
  const certificate = ['-keyout', `${folder}/key.pem`, '-out', `${folder}/cert.pem`];
  const subject = ['-subj', `/CN=${DOMAIN}`, '-addext', `subjectAltName=DNS:${DOMAIN}`];
  run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...certificate, ...subject]);
  const shipped = readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8')
    .replaceAll(/^ *listen \[::\].*\n/gmu, '')
    .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace(/^ *server 127\.0\.0\.1:8080(.*)$/mu, (_, terms: string) =>
      upstream_ports.map((one) => `server 127.0.0.1:${one}${terms}`).join('\n'),
    )
    .replace(/\/etc\/letsencrypt\/\S+\/fullchain\.pem/u, `${folder}/cert.pem`)
    .replace(/\/etc\/letsencrypt\/\S+\/privkey\.pem/u, `${folder}/key.pem`);
  writeFileSync(join(folder, 'tollgate.conf'), shipped);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  include ${folder}/tollgate.conf;
}`;
  writeFileSync(join(folder, 'nginx.conf'), main);
  return {
    folder,
    port,
    args: ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'error.log'],
  };
}

export async function startNginx(...upstream_ports: readonly number[]): Promise<WebProxy> {
  const { folder, port, args } = await prepareNginx(...upstream_ports);
  const child = spawn('nginx', args, { env: { PATH }, stdio: 'ignore' });
  await taken(port, child, START_MS);
  const ca = readFileSync(join(folder, 'cert.pem'));
  const at = { host: '127.0.0.1', port, ca, servername: DOMAIN };
  const url = `wss://127.0.0.1:${port}`;
  return proxyOf(child, { folder, url, socket: at }, (options) =>
    requestTls({ ...at, ...options }),
  );
}

/** The environment that compose.postgres.yaml gives Caddy, with an address that needs no TLS. */
export async function prepareCaddy(
  upstreams: string,
): Promise<{ folder: string; port: number; args: string[]; env: NodeJS.ProcessEnv }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-caddy-'));
  const port = await freePort();
  const file = join(folder, 'Caddyfile');
  const shipped = readFileSync(join(DEPLOY, 'Caddyfile'), 'utf8');
  // Its administration would listen on a port that another test may have.
  writeFileSync(file, `{\n\tadmin off\n}\n${shipped}`);
  return {
    folder,
    port,
    args: ['--config', file, '--adapter', 'caddyfile'],
    env: {
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      TOLLGATE_DOMAIN: `http://127.0.0.1:${port}`,
      TOLLGATE_UPSTREAMS: upstreams,
    },
  };
}

export async function startCaddy(upstreams: string): Promise<WebProxy> {
  const { folder, port, args, env } = await prepareCaddy(upstreams);
  const child = spawn('caddy', ['run', ...args], { env: { PATH, ...env }, stdio: 'ignore' });
  await taken(port, child, START_MS);
  return proxyOf(child, { folder, url: `ws://127.0.0.1:${port}`, socket: {} }, (options) =>
    requestPlain({ host: '127.0.0.1', port, ...options }),
  );
}

function proxyOf(
  child: ChildProcess,
  { folder, url, socket }: { folder: string; url: string; socket: ClientOptions },
  open: (options: RequestOptions) => ReturnType<typeof requestPlain>,
): WebProxy {
  return {
    async send(options, body) {
      const request = open({ agent: false, ...options }).end(body);
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      return answer;
    },
    socket: (path, headers) => new WebSocket(url + path, { ...socket, headers }),
    async close() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
