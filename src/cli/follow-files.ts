import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { patternsIn, watchedBy } from '../config/include.js';
import { onHangup } from './signals.js';

const POLL_MS = 500;
/** Files are read only after their sizes and times have been stable for this long. */
const STABLE_MS = 1_000;
const STABLE_POLL_MS = 100;
/** A file that keeps changing is read after this long. */
const MAX_WAIT_MS = 60_000;

/** The state of one file or of several: it differs when a file has changed. */
export interface Stamp {
  key: string;
  mtime_ms: number;
}

/** A missing file counts as just changed, since an editor may be about to replace it. */
async function stampOf(file: string): Promise<Stamp> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return { key: `${size} ${mtimeMs} ${ino}`, mtime_ms: mtimeMs };
  } catch {
    return { key: '', mtime_ms: Infinity };
  }
}

/** A configuration's file, the `.env` beside it, and the included files, which come and go. */
export class ConfigFiles {
  /** The key of the main file when its patterns were read. */
  #patterns_key = '';
  #patterns: readonly string[] = [];
  readonly #env: string;
  #hadEnv = false;

  constructor(private readonly main: string) {
    this.#env = join(dirname(main), '.env');
  }

  async stamp(): Promise<Stamp> {
    const own = await stampOf(this.main);
    if (own.key !== this.#patterns_key) {
      this.#patterns = await patternsIn(this.main);
      this.#patterns_key = own.key;
    }
    const both = await this.#withEnv(own);
    if (this.#patterns.length === 0) return both;
    const { files, folders } = await watchedBy(this.main, this.#patterns);
    const stamps = await Promise.all(files.map(stampOf));
    // The time of a folder shows that a file in it was removed.
    const folder_stamps = await Promise.all(folders.map(stampOf));
    const keys = files.map((file, at) => `${file} ${stamps[at]?.key}`);
    const times_ms = [both, ...stamps, ...folder_stamps].map(({ mtime_ms }) => mtime_ms);
    return { key: [both.key, ...keys].join('\n'), mtime_ms: Math.max(...times_ms) };
  }

  /** A file that never was does not count as just changed. */
  async #withEnv({ key, mtime_ms }: Stamp): Promise<Stamp> {
    const env = await stampOf(this.#env);
    this.#hadEnv ||= env.key !== '';
    return {
      key: `${key}\n${env.key}`,
      mtime_ms: this.#hadEnv ? Math.max(mtime_ms, env.mtime_ms) : mtime_ms,
    };
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
  let isRequested = false;
  // Polling also notices an editor that replaces the file.
  const poll = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (!isStopped && (isRequested || (await files.stamp()).key !== key)) {
      isRequested = false;
      ({ key } = await stableStamp(files));
      if (!isStopped) await changed();
    }
    isRunning = false;
  };
  const timer = setInterval(() => void poll(), POLL_MS);
  timer.unref();
  const stopHangups = onHangup(() => {
    isRequested = true;
    void poll();
  });
  return () => {
    isStopped = true;
    clearInterval(timer);
    stopHangups();
  };
}

/** Waits until the files are stable. Resolves at once if they were last written a while ago. */
async function stableStamp(files: ConfigFiles): Promise<Stamp> {
  let last = await files.stamp();
  if (Date.now() - last.mtime_ms > STABLE_MS) return last;
  const began_ms = performance.now();
  for (let since_ms = began_ms; performance.now() - since_ms < STABLE_MS;) {
    await sleep(STABLE_POLL_MS, undefined, { ref: false });
    const now = await files.stamp();
    if (now.key !== last.key) since_ms = performance.now();
    last = now;
    if (performance.now() - began_ms > MAX_WAIT_MS) break;
  }
  return last;
}
