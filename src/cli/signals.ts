/** Resolves at the first SIGTERM or SIGINT. */
export function untilStopped(): Promise<undefined> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve(undefined));
    process.once('SIGINT', () => resolve(undefined));
  });
}

/** The listener of SIGHUP. A signal that comes before it is set is kept for it. */
let listener: (() => void) | undefined;
let isPending = false;

/** Keeps a SIGHUP from ending the process while it starts. Called before anything else. */
export function catchHangups(): void {
  process.on('SIGHUP', () => {
    if (listener) listener();
    else isPending = true;
  });
}

/** Calls back at each SIGHUP, also for an earlier one. Returns a function that stops it. */
export function onHangup(hungUp: () => void): () => void {
  listener = hungUp;
  if (isPending) hungUp();
  isPending = false;
  return () => {
    listener = undefined;
  };
}
