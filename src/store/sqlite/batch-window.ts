/** Nobody waits longer than this for others. */
const MOST_MS = 5;

/** Enough to be served at once: more would keep the event loop for too long. */
export const MAX_BATCH = 256;

/**
 * Acts for all who wait as soon as a turn of the event loop has brought nobody more. Who comes
 * alone is served in the next turn, and nobody waits while the loop has nothing to do. A busy loop
 * comes to do each thing for many at once, which costs far less than all things for each few.
 */
export function collectBatch(
  waiting: { readonly length: number },
  act: () => void,
  now_ms: () => number = () => performance.now(),
): void {
  const began_ms = now_ms();
  const turn = (before: number): void => {
    setImmediate(() => {
      const { length } = waiting;
      const isOver = length <= before || length >= MAX_BATCH || now_ms() - began_ms >= MOST_MS;
      if (isOver) act();
      else turn(length);
    });
  };
  turn(waiting.length);
}
