import { setFlagsFromString } from 'node:v8';

/**
 * V8 derives its young generation from the memory that it sees: 128 MB on Node 24, with which a
 * gateway of small calls has 400 MB, and 2 MB in a container of 512 MB, where most of a request is
 * copied twice before it is garbage. Node documents this option of V8, and would not start with one
 * that it does not know.
 */
const YOUNG_FLAG = '--max-semi-space-size=16';

/**
 * After an idle minute V8 makes its old generation as small as it can. From then on it collected
 * the whole heap five times a second under large turns, and each collection drops the compiled code
 * that nothing holds at that moment. With this option the old generation may double between two.
 * V8 reads it at each collection, and goes on where it does not know an option.
 */
const GROWTH_FLAG = '--heap-growing-percent=100';

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
  if (isChosen([...execArgv, env.NODE_OPTIONS ?? ''], '--max-semi-space-size')) return;
  self.execve(execPath, [execPath, ...execArgv, YOUNG_FLAG, ...argv.slice(1)], env);
}

/** Lets the heap of this process grow in large steps, unless the operator has chosen. */
export function growInLargeSteps(
  { execArgv, env }: Pick<Restartable, 'execArgv' | 'env'> = process,
  setFlag = setFlagsFromString,
): void {
  const flags = [...execArgv, env.NODE_OPTIONS ?? ''];
  if (!isChosen(flags, '--heap-growing-percent')) setFlag(GROWTH_FLAG);
}

/** Whether the operator, or an earlier start, has set the option. V8 takes `_` for `-` too. */
function isChosen(flags: readonly string[], option: string): boolean {
  return flags.some((flag) => flag.replaceAll('_', '-').includes(option));
}
