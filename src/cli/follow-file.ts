import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { onHangup } from './signals.js';

const LOOK_MS = 500;
/** A file is read only after its size and time have been stable for this long. */
const REST_MS = 1_000;
const REST_LOOK_MS = 100;
/** A file that changes all the time is read after this long. */
const LONGEST_MS = 60_000;

/** One state of a file. */
export interface Stamp {
  key: string;
  mtime_ms: number;
}

/** A missing file may be about to be replaced. */
export async function stampOf(file: string): Promise<Stamp> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return { key: `${size} ${mtimeMs} ${ino}`, mtime_ms: mtimeMs };
  } catch {
    return { key: '', mtime_ms: Infinity };
  }
}

/**
 * Calls back when the file differs from `known`, or on SIGHUP, once it is stable. One call runs at
 * a time. Returns a function that stops it.
 */
export function followFile(file: string, known: Stamp, changed: () => Promise<void>): () => void {
  let { key } = known;
  let isStopped = false;
  let isRunning = false;
  let isAsked = false;
  // Polling also notices editors that replace the file.
  const look = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (!isStopped && (isAsked || (await stampOf(file)).key !== key)) {
      isAsked = false;
      ({ key } = await stampAtRest(file));
      if (!isStopped) await changed();
    }
    isRunning = false;
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  const unhear = onHangup(() => {
    isAsked = true;
    void look();
  });
  return () => {
    isStopped = true;
    clearInterval(timer);
    unhear();
  };
}

/** Resolves at once for a file that was last written a while ago. */
async function stampAtRest(file: string): Promise<Stamp> {
  let last = await stampOf(file);
  if (Date.now() - last.mtime_ms > REST_MS) return last;
  const began_ms = performance.now();
  for (let since_ms = began_ms; performance.now() - since_ms < REST_MS;) {
    await sleep(REST_LOOK_MS, undefined, { ref: false });
    const now = await stampOf(file);
    if (now.key !== last.key) since_ms = performance.now();
    last = now;
    if (performance.now() - began_ms > LONGEST_MS) break;
  }
  return last;
}
