/**
 * V8 derives its young generation from the memory that it sees: 128 MB on Node 24, with which a
 * gateway of small calls has 400 MB, and 2 MB in a container of 512 MB, where most of a request is
 * copied twice before it is garbage. The old generation may grow to twice what is in use, not four
 * times.
 */
const FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=100'];

/** What of a process the restart needs. Node has `execve` from 22.15 on, and not on Windows. */
export interface Restartable extends Pick<
  NodeJS.Process,
  'argv' | 'channel' | 'env' | 'execArgv' | 'execPath' | 'platform'
> {
  execve?: ((file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never) | undefined;
}

/**
 * Replaces this program by itself with other flags of V8, which takes them only at its start. It
 * stays the same process to whatever started it, with its ID, its signals and its open files.
 */
export function restartWithHeapFlags(self: Restartable = process): void {
  // A parent's channel would be lost. A worker has the flags of its parent.
  if (!self.execve || self.channel || self.platform === 'win32') return;
  const { execArgv, execPath, argv, env } = self;
  if (isChosen([...execArgv, env.NODE_OPTIONS ?? ''])) return;
  self.execve(execPath, [execPath, ...execArgv, ...FLAGS, ...argv.slice(1)], env);
}

/** Whether the operator, or an earlier start, has set the size. V8 takes `_` for `-` too. */
function isChosen(flags: readonly string[]): boolean {
  return flags.some((flag) => flag.replaceAll('_', '-').includes('--max-semi-space-size'));
}
