import { commandIo } from './command-io.js';

/** Resolves when the running command has to end: at the first SIGTERM or SIGINT. */
export async function untilStopped(): Promise<undefined> {
  await (commandIo().stopped ?? firstSignal());
}

function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
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
