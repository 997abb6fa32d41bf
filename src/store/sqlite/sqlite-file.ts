import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** Called once what was written is on the disk, or with what went wrong. */
export type OnSynced = (error: NodeJS.ErrnoException | null) => void;

/** Standing still for longer than this costs more than what gathering saves. */
const IDLE_MS = 0.5;
/** The mean is taken over about so many flushes. */
const RECENT = 8;

/**
 * Waits for the disk off the event loop. SQLite would wait for it inside the commit and stop every
 * request meanwhile; here the write-ahead log is flushed beside, and one flush counts for all that
 * was committed before it began. The promise is the same as that of `synchronous = FULL`.
 */
export class WalSync {
  readonly #file: string;
  #descriptor: number | undefined;
  #waiting: OnSynced[] = [];
  #flushing = false;
  /** For how long the event loop stands still during a flush: the mean of late. */
  #idle_flush_ms = 0;

  /**
   * The file is the write-ahead log, which exists from the first transaction on. `idle_ms` tells
   * for how long the event loop has had nothing to do so far.
   */
  constructor(
    file: string,
    private readonly idle_ms = () => performance.eventLoopUtilization().idle,
  ) {
    this.#file = file;
  }

  /** False where the event loop stands still for the disk, and so had better give it work early. */
  get isQuick(): boolean {
    return this.#idle_flush_ms < IDLE_MS;
  }

  /** Calls back when all that was committed by now survives a loss of power. */
  after(reached: OnSynced): void {
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
    const before_ms = this.idle_ms();
    fdatasync(this.#descriptor, (error) => {
      const idle_ms = this.idle_ms() - before_ms;
      this.#idle_flush_ms += (idle_ms - this.#idle_flush_ms) / RECENT;
      this.#done(waiting, error);
    });
  }

  /** Who came meanwhile is served at once: a busy turn of the loop has gathered enough of them. */
  #done(waiting: readonly OnSynced[], error: NodeJS.ErrnoException | null): void {
    this.#flushing = this.#waiting.length > 0;
    if (this.#flushing) this.#flush();
    for (const reached of waiting) reached(error);
  }
}

/** The file that was opened is not the one under its path any more. */
export class FileGone extends Error {
  override name = 'FileGone';
}

/**
 * Tells whether the open file is still the one under its path. What is written to a file that was
 * deleted or replaced would vanish when this process ends.
 */
export class OpenFile {
  readonly #key: string;
  #error: FileGone | undefined;

  /** Made right after the file was opened. */
  constructor(private readonly path: string) {
    this.#key = this.#look();
  }

  /** What the last look has found. */
  get wasGone(): boolean {
    return this.#error !== undefined;
  }

  /** Looks at the path; answers what is wrong, if anything is. */
  fault(): FileGone | undefined {
    const isThere = this.#look() === this.#key;
    if (isThere) this.#error = undefined;
    else this.#error ??= new FileGone(`The file ${this.path} was deleted or replaced.`);
    return this.#error;
  }

  #look(): string {
    const there = statSync(this.path, { throwIfNoEntry: false });
    return there ? `${there.dev} ${there.ino}` : '';
  }
}
