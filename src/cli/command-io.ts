import { AsyncLocalStorage } from 'node:async_hooks';
import type { Screen } from './terminal.js';

/** What one run of a command writes to, and the environment that it reads. */
export interface CommandIo {
  readonly stdout: Screen & { write(text: string): unknown };
  readonly stderr: Screen & { write(text: string): unknown };
  readonly env: NodeJS.ProcessEnv;
  /** Resolves when a command that stays has to end. Without it, signals say that. */
  readonly stopped?: Promise<unknown>;
  /** 0 until something fails. */
  exit_status: number;
}

const OF_PROCESS: CommandIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  get exit_status() {
    return Number(process.exitCode ?? 0);
  },
  set exit_status(status) {
    process.exitCode = status;
  },
};

const runs = new AsyncLocalStorage<CommandIo>();

/** That of the running command: without another, that of this process. */
export function commandIo(): CommandIo {
  return runs.getStore() ?? OF_PROCESS;
}

/** Runs a command with another one, as tests do, which run many commands in one process. */
export function withCommandIo<T>(io: CommandIo, work: () => Promise<T>): Promise<T> {
  return runs.run(io, work);
}
