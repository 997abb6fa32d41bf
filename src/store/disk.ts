import { closeSync, fdatasync, openSync } from 'node:fs';

/**
 * A flush costs the processor as much as several requests. Where the last one served so many, the
 * next one gathers more of them; a few calls that come now and then are not kept waiting.
 */
const BUSY_FROM = 8;
const GATHER_MS = 1;

/** Called once what was written is on the disk, or with what went wrong. */
export type Reached = (error: NodeJS.ErrnoException | null) => void;

/**
 * Waits for the disk off the event loop. SQLite would wait for it inside the commit and stop every
 * request meanwhile; here the write-ahead log is flushed beside, and one flush counts for all that
 * was committed before it began. The promise is the same as that of `synchronous = FULL`.
 */
export class Disk {
  readonly #file: string;
  #descriptor: number | undefined;
  #waiting: Reached[] = [];
  /** The requests of all that wait. */
  #requests = 0;
  #flushing = false;

  /** The file is the write-ahead log, which exists from the first transaction on. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Calls back when all that so many requests have committed by now survives a loss of power. */
  after(reached: Reached, requests = 1): void {
    this.#waiting.push(reached);
    this.#requests += requests;
    if (!this.#flushing) this.#flush();
  }

  /** Resolves when nobody waits any more, and lets go of the file. */
  async close(): Promise<void> {
    if (this.#flushing) await new Promise<void>((resolve) => this.after(() => resolve()));
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #flush(): void {
    const [waiting, requests] = [this.#waiting, this.#requests];
    this.#waiting = [];
    this.#requests = 0;
    this.#flushing = true;
    try {
      this.#descriptor ??= openSync(this.#file, 'r+');
    } catch (error) {
      this.#done(waiting, 0, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    fdatasync(this.#descriptor, (error) => this.#done(waiting, requests, error));
  }

  #done(waiting: readonly Reached[], requests: number, error: NodeJS.ErrnoException | null): void {
    this.#flushing = this.#waiting.length > 0;
    if (this.#flushing && requests < BUSY_FROM) this.#flush();
    else if (this.#flushing) setTimeout(() => this.#flush(), GATHER_MS);
    for (const reached of waiting) reached(error);
  }
}
