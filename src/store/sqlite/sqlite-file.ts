import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** Called after the fsync, with its error if it failed. */
export type OnSynced = (error: NodeJS.ErrnoException | null) => void;

/** Above this idle time an fsync costs more than a larger batch saves. */
const MAX_IDLE_MS = 0.5;
/** The running mean covers about this many fsyncs. */
const RECENT = 8;

/**
 * Syncs the write-ahead log off the event loop. SQLite would run fsync inside the commit and block
 * every request meanwhile. Here one fsync covers every transaction committed before it began. The
 * guarantee is that of `synchronous = FULL`.
 */
export class WalSync {
  readonly #file: string;
  #descriptor: number | undefined;
  #waiting: OnSynced[] = [];
  #flushing = false;
  /** How long the event loop idles during an fsync: a running mean. */
  #idle_flush_ms = 0;

  /**
   * The file is the write-ahead log, which exists from the first transaction on. `idle_ms` returns
   * the total idle time of the event loop so far.
   */
  constructor(
    file: string,
    private readonly idle_ms = () => performance.eventLoopUtilization().idle,
  ) {
    this.#file = file;
  }

  /** False if the event loop idles during an fsync: then batches that start early are faster. */
  get isQuick(): boolean {
    return this.#idle_flush_ms < MAX_IDLE_MS;
  }

  /** Calls back once every transaction committed so far survives a loss of power. */
  after(onSynced: OnSynced): void {
    this.#waiting.push(onSynced);
    if (!this.#flushing) this.#flush();
  }

  /** Resolves after the last fsync, and closes the file. */
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

  /** Starts the next fsync at once if commits were added during this one. */
  #done(waiting: readonly OnSynced[], error: NodeJS.ErrnoException | null): void {
    this.#flushing = this.#waiting.length > 0;
    if (this.#flushing) this.#flush();
    for (const onSynced of waiting) onSynced(error);
  }
}

/** The path no longer leads to the file that the store opened. */
export class FileDeleted extends Error {
  override name = 'FileGone';
}

/**
 * Checks that the path still leads to the open file. Writes to a file that was deleted or replaced
 * would be lost when this process ends.
 */
export class OpenFile {
  readonly #opened: string;
  #error: FileDeleted | undefined;

  /** Construct it right after the file was opened. */
  constructor(private readonly path: string) {
    this.#opened = this.#identity();
  }

  /** Whether the last check found the file gone. */
  get wasGone(): boolean {
    return this.#error !== undefined;
  }

  /** Checks the path; the error if the file is gone. */
  fault(): FileDeleted | undefined {
    const isSame = this.#identity() === this.#opened;
    if (isSame) this.#error = undefined;
    else this.#error ??= new FileDeleted(`The file ${this.path} was deleted or replaced.`);
    return this.#error;
  }

  #identity(): string {
    const found = statSync(this.path, { throwIfNoEntry: false });
    return found ? `${found.dev} ${found.ino}` : '';
  }
}
