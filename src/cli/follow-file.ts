import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { onHangup } from './signals.js';

const LOOK_MS = 500;
/** A file that is still being written is not read: its size and time must rest for so long. */
const REST_MS = 1_000;
const REST_LOOK_MS = 100;
/** A file that never rests is read all the same. */
const LONGEST_MS = 60_000;

/** What tells one state of a file from another. */
export interface Stamp {
  key: string;
  mtime_ms: number;
}

/** A file that is missing may be about to be replaced. */
export async function stampOf(file: string): Promise<Stamp> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return { key: `${size} ${mtimeMs} ${ino}`, mtime_ms: mtimeMs };
  } catch {
    return { key: '', mtime_ms: Infinity };
  }
}

/**
 * Calls back when the file is not any more what `known` says, or on SIGHUP, once nobody writes it.
 * One call runs at a time. Answers how to stop that.
 */
export function followFile(file: string, known: Stamp, changed: () => Promise<void>): () => void {
  let { key } = known;
  let isStopped = false;
  let isRunning = false;
  let isAsked = false;
  // Looking at the file, rather than being told, also sees editors that replace it.
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
