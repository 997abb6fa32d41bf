import { withCommandIo } from '../../src/cli/command-io.js';
import { runProgram } from '../../src/cli/program.js';

/** What a command printed, and how it ended. */
export interface Outcome {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Commands in this process take turns: each has a working directory of its own. */
let turn: Promise<unknown> = Promise.resolve();

/** Runs a command in this process: a process of its own takes half a second to start. */
export function runCommand(
  args: readonly string[],
  { folder = process.cwd(), env = {} }: { folder?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  const outcome = turn.then(async () => {
    let [stdout, stderr] = ['', ''];
    const io = {
      stdout: { write: (text: string) => (stdout += text) },
      stderr: { write: (text: string) => (stderr += text) },
      env: { PATH: process.env.PATH, ...env },
      exit_status: 0,
    };
    const before = process.cwd();
    process.chdir(folder);
    try {
      await withCommandIo(io, () => runProgram(args));
    } finally {
      process.chdir(before);
    }
    return { status: io.exit_status, signal: null, stdout, stderr };
  });
  turn = outcome.catch(() => undefined);
  return outcome;
}
