/**
 * V8 derives its young generation from the memory that it sees: 128 MB on Node 24, with which a
 * gateway of small calls has 400 MB, and 2 MB in a container of 512 MB, where most of a request is
 * copied twice before it is garbage. Node documents this option of V8, and would not start with one
 * that it does not know.
 */
const FLAG = '--max-semi-space-size=16';

/** What of a process the restart needs. Node has `execve` from 22.15 on, and not on Windows. */
export interface Restartable extends Pick<
  NodeJS.Process,
  'argv' | 'channel' | 'env' | 'execArgv' | 'execPath' | 'platform'
> {
  execve?: ((file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never) | undefined;
}

/**
 * Replaces this program by itself with another young generation, which V8 takes only at its start.
 * It stays the same process to whatever started it, with its ID, its signals and its open files.
 */
export function restartWithHeapFlags(self: Restartable = process): void {
  // A parent's channel would be lost. A worker has the flags of its parent.
  if (!self.execve || self.channel || self.platform === 'win32') return;
  const { execArgv, execPath, argv, env } = self;
  if (isChosen([...execArgv, env.NODE_OPTIONS ?? ''])) return;
  self.execve(execPath, [execPath, ...execArgv, FLAG, ...argv.slice(1)], env);
}

/** Whether the operator, or an earlier start, has set the size. V8 takes `_` for `-` too. */
function isChosen(flags: readonly string[]): boolean {
  return flags.some((flag) => flag.replaceAll('_', '-').includes('--max-semi-space-size'));
}
