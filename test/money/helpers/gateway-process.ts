import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../helpers/run-command.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The built program starts in half the time, but a stale one would be another program. */
const program = isBuilt() ? ['dist/src/cli/main.js'] : ['--import=tsx', 'src/cli/main.ts'];

function isBuilt(): boolean {
  const main = join(root, 'dist/src/cli/main.js');
  if (!existsSync(main)) return false;
  const built_ms = statSync(main).mtimeMs;
  return ['src', 'providers'].every((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).every(
      (entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs < built_ms,
    ),
  );
}

/** Leads a process group, so that its workers are killed in the same moment. */
function start(args: readonly string[]): ChildProcess {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const options = { cwd: root, stdio: [...stdio], detached: true };
  const child = spawn(process.execPath, args, options);
  const killGroup = (): void => void (child.pid && process.kill(-child.pid, 'SIGKILL'));
  process.once('exit', killGroup);
  child.once('exit', () => process.off('exit', killGroup));
  return child;
}

/** A `tollgate serve` of its own process, to be killed at any moment. */
export interface GatewayProcess {
  url: string;
  pid: number;
  /** Sends SIGKILL to it and its workers at once; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves with the exit status. */
  stop(): Promise<unknown>;
}

/** Resolves when it takes requests. */
export function serve(config: string, ...args: string[]): Promise<GatewayProcess> {
  return serveBy(program, config, ...args);
}

/** The same by another program, such as that of an older release. */
export async function serveBy(
  main: readonly string[],
  config: string,
  ...args: string[]
): Promise<GatewayProcess> {
  const child = start([...main, 'serve', '--config', config, ...args]);
  const exited = once(child, 'exit');
  const stop = async (): Promise<unknown> => {
    child.kill('SIGTERM');
    const [code] = await exited;
    return code as unknown;
  };
  const kill = async (): Promise<void> => {
    if (child.pid && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL');
    }
    await exited;
  };
  if (!child.stdout) throw new Error('The process has no output.');
  for await (const line of createInterface(child.stdout)) {
    const url = /serving .* on (http:\S+)/u.exec(line)?.[1];
    if (url !== undefined) return { url, pid: child.pid ?? 0, kill, stop };
  }
  throw new Error('The gateway never came to serve.');
}

/** Runs `tollgate` to its end: what it printed, and its exit status. */
export async function run(args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const { status, stdout, stderr } = await runCommand(args);
  return { code: status, output: stdout + stderr };
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
