import { type CommandIo, withCommandIo } from '../../src/cli/command-io.js';
import { runProgram } from '../../src/cli/program.js';
import { until } from './until.js';

/** A process starts slowly on a busy machine. */
const START_MS = 60_000;

/** What a command printed, and how it ended. */
export interface Outcome {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A command under way: in a process of its own, or in this one. */
export abstract class RunningCommand {
  stdout = '';
  stderr = '';
  abstract readonly ended: Promise<Outcome>;
  protected abstract isOver(): boolean;

  /** The address of a `serve` that is up. */
  async url(): Promise<string> {
    const said = (): string | undefined => / on (http:\S+)\n/u.exec(this.stdout)?.[1];
    await until(() => said() !== undefined || this.isOver(), 'it serves', START_MS);
    const url = said();
    if (url === undefined) throw new Error(`It ended:\n${this.stdout}${this.stderr}`);
    return url;
  }

  /** Resolves when standard error has a whole line with such a text; the log comes with a delay. */
  says(text: string): Promise<void> {
    const isThere = (): boolean => {
      const at = this.stderr.indexOf(text);
      return at >= 0 && this.stderr.includes('\n', at);
    };
    return until(isThere, `it says "${text}"`, START_MS);
  }
}

interface Surroundings {
  folder?: string;
  env?: NodeJS.ProcessEnv;
}

const HOME = process.cwd();
/** Commands in this process take turns: each has a working directory of its own. */
let turn: Promise<unknown> = Promise.resolve();

/** A command in this process: one of its own takes a second of a processor to start. */
export class CommandHere extends RunningCommand {
  readonly ended: Promise<Outcome>;
  #isOver = false;
  #hasPrinted = (): void => undefined;
  #stop = (): void => undefined;

  /** One that stays lets the next one begin once it has printed. */
  constructor(
    args: readonly string[],
    { folder = HOME, env = {} }: Surroundings,
    { stays }: { stays: boolean },
  ) {
    super();
    const printed = new Promise<void>((resolve) => (this.#hasPrinted = resolve));
    const stopped = new Promise<void>((resolve) => (this.#stop = resolve));
    this.ended = turn.then(() => {
      process.chdir(folder);
      return this.#run(args, { PATH: process.env.PATH, ...env }, stopped);
    });
    turn = Promise.race(stays ? [this.ended, printed] : [this.ended])
      .catch(() => undefined)
      .then(() => process.chdir(HOME));
  }

  /** Ends it as a signal ends a process. */
  stop(): Promise<Outcome> {
    this.#stop();
    return this.ended;
  }

  protected isOver(): boolean {
    return this.#isOver;
  }

  async #run(
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    stopped: Promise<void>,
  ): Promise<Outcome> {
    const write = (to: 'stdout' | 'stderr') => (text: string) => {
      this[to] += text;
      this.#hasPrinted();
    };
    const [stdout, stderr] = [{ write: write('stdout') }, { write: write('stderr') }];
    const io: CommandIo = { stdout, stderr, env, stopped, exit_status: 0 };
    try {
      await withCommandIo(io, () => runProgram(args));
    } finally {
      this.#isOver = true;
    }
    return { status: io.exit_status, signal: null, stdout: this.stdout, stderr: this.stderr };
  }
}

/** Runs a command to its end, in this process. */
export function runCommand(args: readonly string[], at: Surroundings = {}): Promise<Outcome> {
  return new CommandHere(args, at, { stays: false }).ended;
}
