import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { patternsIn, watchedBy } from '../config/include.js';
import { onHangup } from './signals.js';

const LOOK_MS = 500;
/** Files are read only after their sizes and times have been stable for this long. */
const REST_MS = 1_000;
const REST_LOOK_MS = 100;
/** A file that changes all the time is read after this long. */
const LONGEST_MS = 60_000;

/** One state of a file, or of several. */
export interface Stamp {
  key: string;
  mtime_ms: number;
}

/** A missing file may be about to be replaced. */
async function stampOf(file: string): Promise<Stamp> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return { key: `${size} ${mtimeMs} ${ino}`, mtime_ms: mtimeMs };
  } catch {
    return { key: '', mtime_ms: Infinity };
  }
}

/** A configuration's file with the files that it includes, which may come and go. */
export class ConfigFiles {
  /** The state of the main file in which it had these patterns. */
  #read = '';
  #patterns: readonly string[] = [];

  constructor(private readonly main: string) {}

  async stamp(): Promise<Stamp> {
    const own = await stampOf(this.main);
    if (own.key !== this.#read) {
      this.#patterns = await patternsIn(this.main);
      this.#read = own.key;
    }
    if (this.#patterns.length === 0) return own;
    const { files, folders } = await watchedBy(this.main, this.#patterns);
    const stamps = await Promise.all(files.map(stampOf));
    // A file that has gone shows in the time of its folder alone.
    const around = await Promise.all(folders.map(stampOf));
    const keys = files.map((file, at) => `${file} ${stamps[at]?.key}`);
    const times_ms = [own, ...stamps, ...around].map(({ mtime_ms }) => mtime_ms);
    return { key: [own.key, ...keys].join('\n'), mtime_ms: Math.max(...times_ms) };
  }
}

/**
 * Calls back when the files differ from `known`, or on SIGHUP, once they are stable. One call runs
 * at a time. Returns a function that stops it.
 */
export function followFiles(
  files: ConfigFiles,
  known: Stamp,
  changed: () => Promise<void>,
): () => void {
  let { key } = known;
  let isStopped = false;
  let isRunning = false;
  let isAsked = false;
  // Polling also notices editors that replace the file.
  const look = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (!isStopped && (isAsked || (await files.stamp()).key !== key)) {
      isAsked = false;
      ({ key } = await stampAtRest(files));
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

/** Resolves at once for files that were last written a while ago. */
async function stampAtRest(files: ConfigFiles): Promise<Stamp> {
  let last = await files.stamp();
  if (Date.now() - last.mtime_ms > REST_MS) return last;
  const began_ms = performance.now();
  for (let since_ms = began_ms; performance.now() - since_ms < REST_MS;) {
    await sleep(REST_LOOK_MS, undefined, { ref: false });
    const now = await files.stamp();
    if (now.key !== last.key) since_ms = performance.now();
    last = now;
    if (performance.now() - began_ms > LONGEST_MS) break;
  }
  return last;
}
