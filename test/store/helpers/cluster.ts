import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../helpers/free-port.js';

const VERSIONS = '/usr/lib/postgresql';

/** A program of the newest PostgreSQL on this machine. */
export function postgresProgram(name: string): string {
  const [newest = ''] = readdirSync(VERSIONS).toSorted((a, b) => Number(b) - Number(a));
  return join(VERSIONS, newest, 'bin', name);
}

/** A PostgreSQL server of a test, with its own data. */
export interface Cluster {
  url: string;
  /** Restarts the server; without an argument as it was. */
  restart(options?: string): void;
  stop(): void;
}

/** Makes and starts a server; as root, for the user postgres, since it refuses to run as root. */
export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cluster-'));
  const port = await freePort();
  const run = (name: string, ...args: string[]): void => {
    const command = [postgresProgram(name), '-D', join(folder, 'db'), ...args];
    const whole =
      process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    const [program = '', ...rest] = whole;
    execFileSync(program, rest, { cwd: '/', stdio: 'ignore' });
  };
  const start = (options = ''): void => {
    const own = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off ${options}`;
    run('pg_ctl', '-w', '-s', '-l', join(folder, 'log'), '-o', own, 'start');
  };
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', folder]);
  run('initdb', '--auth=trust', '--username=postgres', '--no-sync');
  start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restart: (options) => {
      run('pg_ctl', '-w', '-s', '-m', 'immediate', 'stop');
      start(options);
    },
    stop: () => {
      run('pg_ctl', '-s', '-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
