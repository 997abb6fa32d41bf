import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { sqliteDriverFile } from './sqlite-driver.js';

const EVERY_MS = 1_000;
/** A log of so many pages is begun anew, for which writers wait some milliseconds. */
const MAX_PAGES = 16_000;

/** The program of the thread: a text, because a thread cannot load TypeScript from source. */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const Sqlite = require(workerData.driver);
  const database = new Sqlite(workerData.file, { fileMustExist: true });
  database.pragma('busy_timeout = 20');
  const timer = setInterval(() => {
    try {
      const [{ log }] = database.pragma('wal_checkpoint(PASSIVE)');
      if (log > workerData.max_pages) database.pragma('wal_checkpoint(RESTART)');
    } catch {
      // The next one tries again. If all fail, a commit makes one, and its error tells.
    }
  }, workerData.every_ms);
  parentPort.once('message', () => {
    clearInterval(timer);
    database.close();
    parentPort.close();
  });
  parentPort.postMessage('running');
`;

interface CheckpointsOptions {
  file: string;
  /** Called when the thread runs, and when it has ended. */
  onChange: (isRunning: boolean) => void;
  every_ms?: number;
}

/**
 * Copies the write-ahead log into the database in a thread of its own. SQLite would do so within a
 * commit, and the event loop would wait for thousands of pages and two fsyncs.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #timer: NodeJS.Timeout;
  #thread: Worker | undefined;

  /** A command is mostly over before the thread begins. */
  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => this.#begin(), options.every_ms ?? EVERY_MS).unref();
  }

  #begin(): void {
    const { file, onChange, every_ms = EVERY_MS } = this.#options;
    const workerData = { file, driver: sqliteDriverFile(), every_ms, max_pages: MAX_PAGES };
    const thread = new Worker(PROGRAM, { eval: true, execArgv: [], workerData });
    this.#thread = thread;
    thread.unref();
    thread.once('message', () => onChange(true));
    // Without the thread, commits make the checkpoints.
    thread.once('error', () => undefined);
    thread.once('exit', () => {
      this.#thread = undefined;
      onChange(false);
    });
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const thread = this.#thread;
    if (!thread) return;
    thread.ref();
    const ended = once(thread, 'exit');
    thread.postMessage('close');
    await ended;
  }
}
