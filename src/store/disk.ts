import { closeSync, fdatasync, openSync } from 'node:fs';

/** A flush costs the processor as much as several requests, so a busy gateway shares it more. */
const GATHER_MS_EACH = 0.25;
const GATHER_MS_MOST = 10;

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
  #flushing = false;

  /** The file is the write-ahead log, which exists from the first transaction on. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Calls back when all that has been committed so far would survive a loss of power. */
  after(reached: Reached): void {
    this.#waiting.push(reached);
    if (!this.#flushing) this.#flush();
  }

  /** Resolves when nobody waits any more, and lets go of the file. */
  async close(): Promise<void> {
    if (this.#flushing) await new Promise<void>((resolve) => this.after(() => resolve()));
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#flushing = true;
    try {
      this.#descriptor ??= openSync(this.#file, 'r+');
    } catch (error) {
      this.#done(waiting, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    fdatasync(this.#descriptor, (error) => this.#done(waiting, error));
  }

  /** The more came together last time, the longer it pays to gather for the next flush. */
  #flushSoon(last: number): void {
    this.#flushing = true;
    setTimeout(() => this.#flush(), Math.min(GATHER_MS_MOST, last * GATHER_MS_EACH));
  }

  #done(waiting: readonly Reached[], error: NodeJS.ErrnoException | null): void {
    this.#flushing = false;
    if (this.#waiting.length > 0) this.#flushSoon(waiting.length);
    for (const reached of waiting) reached(error);
  }
}
