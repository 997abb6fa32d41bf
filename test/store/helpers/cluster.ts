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
  /** Where its socket is. */
  folder: string;
  /** Restarts the server; without an argument as it was. */
  restart(options?: string): void;
  /** Ends the server as a crash does. */
  kill(): void;
  /** Makes a server that follows this one, and that each commit of this one waits for from now on. */
  standby(): Promise<Cluster>;
  /** Makes a server that follows this one, and that no commit waits for. */
  follower(): Promise<Cluster>;
  /** Makes a standby the primary. */
  promote(): void;
  stop(): void;
}

/** Makes and starts a server; as root, for the user postgres, since it refuses to run as root. */
export function startCluster(): Promise<Cluster> {
  return started((run) => run('initdb', '--auth=trust', '--username=postgres', '--no-sync'));
}

type Run = (name: string, ...args: string[]) => void;

async function started(make: (run: Run) => void): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cluster-'));
  const port = await freePort();
  const run: Run = (name, ...args) => {
    const command = [postgresProgram(name), '-D', join(folder, 'db'), ...args];
    const whole =
      process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    const [program = '', ...rest] = whole;
    execFileSync(program, rest, { cwd: '/', stdio: 'ignore' });
  };
  let isDead = true;
  const start = (options = ''): void => {
    const own = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off ${options}`;
    run('pg_ctl', '-w', '-s', '-l', join(folder, 'log'), '-o', own, 'start');
    isDead = false;
  };
  const kill = (): void => {
    run('pg_ctl', '-w', '-s', '-m', 'immediate', 'stop');
    isDead = true;
  };
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', folder]);
  make(run);
  start();
  const restart = (options?: string): void => {
    kill();
    start(options);
  };
  const follower = (): Promise<Cluster> => {
    const from = `host=127.0.0.1 port=${port} user=postgres application_name=standby`;
    const args = ['-d', from, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
    return started((runThere) => runThere('pg_basebackup', ...args));
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    folder,
    restart,
    kill,
    follower,
    standby: async () => {
      const standby = await follower();
      restart('-c synchronous_standby_names=standby');
      return standby;
    },
    promote: () => run('pg_ctl', '-w', '-s', 'promote'),
    stop: () => {
      if (!isDead) kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
