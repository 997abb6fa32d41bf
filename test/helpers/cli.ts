import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDollars } from '../../src/lib/money.js';
import { openStore } from '../../src/store/open.js';
import { CommandHere, runCommand, RunningCommand, type Outcome } from './run-command.js';

/** Built by `npm test` before the tests begin. */
const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
/** How long a failing test asks. */
const ASK_MS = 60_000;
const ASK_AGAIN_MS = 20;

/** A folder with a gateway.yaml, where commands are run; everything in it goes when it is closed. */
export interface Place {
  folder: string;
  file: string;
  /** Runs a command to its end, in this process. */
  tollgate(...args: string[]): Promise<Outcome>;
  /** Runs a command whose `--json` document is wanted; fails if it printed anything else. */
  json<T>(...args: string[]): Promise<T>;
  /** Starts a command that stays, in this process: `serve` without workers, `requests --follow`. */
  begin(...args: string[]): CommandHere;
  /** Starts a process of its own: for signals, kills, pipes and workers. */
  start(...args: string[]): Running;
  write(text: string): Promise<void>;
  /**
   * Makes an account with a key in `data/tollgate.db`, as two commands would: a process takes half a
   * second for each.
   */
  customer(name: string, credit?: string): Promise<{ id: string; secret: string }>;
  close(): Promise<void>;
}

/** A command in a process of its own. */
export class Running extends RunningCommand {
  readonly ended: Promise<Outcome>;

  constructor(readonly child: ChildProcess) {
    super();
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(child, 'close').then(([status, signal]) => {
      const { stdout, stderr } = this;
      return { status, signal, stdout, stderr } as Outcome;
    });
  }

  kill(signal: NodeJS.Signals): Promise<Outcome> {
    this.child.kill(signal);
    return this.ended;
  }

  protected isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

/** Asks again and again, one at a time, until the answer is yes; leaves the machine time between. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + ASK_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`It never came to this: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}

export async function makePlace(yaml: string, env: NodeJS.ProcessEnv = {}): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cli-'));
  const file = join(folder, 'gateway.yaml');
  const started: Running[] = [];
  const begun: CommandHere[] = [];
  const write = (text: string): Promise<void> => writeFile(file, text);
  const start = (...args: string[]): Running => {
    const { PATH } = process.env;
    const options = { cwd: folder, env: { PATH, ...env } };
    const running = new Running(spawn(process.execPath, [MAIN, ...args], options));
    started.push(running);
    return running;
  };
  const begin = (...args: string[]): CommandHere => {
    // It reads the file again later, when this process is elsewhere.
    const command = new CommandHere([...args, '--config', file], { folder, env }, { stays: true });
    begun.push(command);
    return command;
  };
  const tollgate = (...args: string[]): Promise<Outcome> => runCommand(args, { folder, env });
  await write(yaml);
  return {
    folder,
    file,
    begin,
    start,
    tollgate,
    write,
    async customer(name, credit = '1') {
      const store = await openStore(`sqlite:${join(folder, 'data/tollgate.db')}`, {
        now: Date.now,
      });
      try {
        const { id } = await store.createAccount(name, parseDollars(credit));
        const { secret } = await store.createKey(id, 'k');
        return { id, secret };
      } finally {
        await store.close();
      }
    },
    async json<T>(...args: string[]) {
      const { status, stdout, stderr } = await tollgate(...args, '--json');
      if (status !== 0 || stderr !== '') throw new Error(`${status}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    async close() {
      for (const command of begun) await command.stop();
      for (const { child, ended } of started) {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A gateway.yaml whose one model the simulator answers, at a price that is easy to reckon with. */
export const SIMULATED = `listen: 127.0.0.1:0
store: sqlite:data/tollgate.db
owners: { me: { name: Me } }
providers: { simulator: {} }
models:
  sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: { input_per_million: 1, output_per_million: 1 } }
`;
