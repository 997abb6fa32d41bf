import { randomUUID } from 'node:crypto';
import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileName, isOwned, lineOf, linesIn, type JournalEntry } from './journal-format.js';

/** Space reserved at the start, so that charges still fit when the disk is full. */
const RESERVED_BYTES = 1024 ** 2;

interface Append {
  line: Buffer;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** The journal of a process that has ended, claimed by this one. */
export interface Adopted {
  path: string;
  entries: JournalEntry[];
  /** Lines that were not written to their end, or are damaged. */
  damaged: number;
}

/** The names of the journal files that this process has open. */
const openNames = new Set<string>();

/**
 * Charges that the store could not take, on local disk: one append-only file for each process, a
 * line for each charge with its checksum. An entry is on the disk when `append` resolves.
 */
export class Journal {
  #path: string;
  #file: FileHandle | undefined;
  /** The offset of the next line; the bytes after it are reserved space. */
  #end = 0;
  #reserved = 0;
  #appends: Append[] = [];
  #isBusy = false;
  #isEmpty: (() => boolean) | undefined;
  #idle: (() => void)[] = [];
  #isClosed = false;

  constructor(
    private readonly folder: string,
    private readonly limit_bytes: number,
  ) {
    this.#path = this.#newPath();
  }

  /** Creates the file and reserves its space. Rejects if the folder is not writable. */
  open(): Promise<void> {
    return this.#add(Buffer.alloc(0));
  }

  append(entry: JournalEntry): Promise<void> {
    return this.#add(lineOf(entry));
  }

  /** Empties the file if `isEmpty` then confirms that the store has all of its charges. */
  clear(isEmpty: () => boolean): void {
    this.#isEmpty = isEmpty;
    if (!this.#isBusy) void this.#run();
  }

  /** Closes the file, and removes it unless charges are left in it. */
  async close(isEmpty: boolean): Promise<void> {
    this.#isClosed = true;
    if (this.#isBusy) await new Promise<void>((resolve) => this.#idle.push(resolve));
    await this.#file?.close();
    this.#file = undefined;
    // If this fails, the file is empty, and the next process removes it.
    if (isEmpty) await rm(this.#path, { force: true }).catch(() => undefined);
    openNames.delete(basename(this.#path));
  }

  /**
   * Claims the files of processes that have ended, and reads them. Skips a file whose first charge
   * is of no account in this store: it belongs to another gateway that uses this folder.
   */
  async adopt(isKnown: (account_id: string) => Promise<boolean>): Promise<Adopted[]> {
    const names = await readdir(this.folder).catch(() => []);
    const adopted: Adopted[] = [];
    for (const name of names) {
      if (isOwned(name, openNames)) continue;
      const path = join(this.folder, name);
      const [first] = linesIn(await readFile(path).catch(() => Buffer.alloc(0))).entries;
      if (first && !(await isKnown(first.charge.account_id))) continue;
      const claimed = await this.#claim(path);
      if (claimed) adopted.push(claimed);
    }
    return adopted;
  }

  /** All charges of an adopted file are in the store. */
  async remove(path: string): Promise<void> {
    await rm(path, { force: true });
    openNames.delete(basename(path));
  }

  /** Leaves an adopted file to another process. */
  leave(path: string): void {
    openNames.delete(basename(path));
  }

  /** Renames the file before reading it: an owner that is alive notices, and begins a new file. */
  async #claim(path: string): Promise<Adopted | undefined> {
    const mine = this.#newPath();
    try {
      await rename(path, mine);
    } catch {
      openNames.delete(basename(mine));
      return undefined;
    }
    const { entries, damaged } = linesIn(await readFile(mine));
    if (entries.length > 0) return { path: mine, entries, damaged };
    await this.remove(mine);
    return damaged > 0 ? { path: mine, entries, damaged } : undefined;
  }

  #newPath(): string {
    const name = fileName(randomUUID());
    openNames.add(name);
    return join(this.folder, name);
  }

  #add(line: Buffer): Promise<void> {
    // Another process may have the file by now.
    if (this.#isClosed) return Promise.reject(new Error('The journal is closed.'));
    return new Promise((resolve, reject) => {
      this.#appends.push({ line, resolve, reject });
      if (!this.#isBusy) void this.#run();
    });
  }

  /** Runs one operation at a time. Lines that arrive meanwhile become one batch with one fsync. */
  async #run(): Promise<void> {
    this.#isBusy = true;
    while (this.#appends.length > 0 || this.#isEmpty) {
      const batch = this.#appends.splice(0);
      if (batch.length > 0) await this.#writeBatch(batch);
      else await this.#wipe();
    }
    this.#isBusy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #writeBatch(batch: readonly Append[]): Promise<void> {
    try {
      await this.#write(Buffer.concat(batch.map(({ line }) => line)));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      // A line that is too large must not fail the others.
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const append of batch) await this.#writeBatch([append]);
    }
  }

  async #write(lines: Buffer): Promise<void> {
    if (this.#end + lines.length > this.limit_bytes) {
      throw new Error(`The journal would pass its limit of ${this.limit_bytes} bytes.`);
    }
    const file = (this.#file ??= await this.#create());
    try {
      for (let at = 0; at < lines.length;) {
        at += (await file.write(lines, at, lines.length - at, this.#end + at)).bytesWritten;
      }
      await file.datasync();
    } catch (error) {
      // A restart must not find a charge that was refused here.
      await this.#erase(file, this.#end + lines.length).catch(() => undefined);
      throw error;
    }
    if (!(await this.#isOwnFile(file))) {
      await file.close();
      this.#file = undefined;
      this.#end = 0;
      openNames.delete(basename(this.#path));
      this.#path = this.#newPath();
      return this.#write(lines);
    }
    this.#end += lines.length;
  }

  /** False if another process took this one for dead, or if the file was removed. */
  async #isOwnFile(file: FileHandle): Promise<boolean> {
    const [mine, there] = await Promise.all([file.stat(), stat(this.#path).catch(() => undefined)]);
    return mine.ino === there?.ino && mine.dev === there.dev;
  }

  async #create(): Promise<FileHandle> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const file = await open(this.#path, 'wx', 0o600);
    const reserved = Buffer.alloc(Math.min(RESERVED_BYTES, this.limit_bytes));
    // If the disk is full, there may still be room for single charges.
    const written = await file.write(reserved, 0).catch(() => undefined);
    this.#reserved = written?.bytesWritten ?? 0;
    await file.datasync();
    const folder = await open(this.folder, 'r');
    await folder.sync().finally(() => folder.close());
    return file;
  }

  async #wipe(): Promise<void> {
    const isEmpty = this.#isEmpty?.();
    this.#isEmpty = undefined;
    const written = this.#end;
    if (!isEmpty || !this.#file || written === 0) return;
    this.#end = 0;
    // If this fails, a restart finds charges that the ledger has already, which changes nothing.
    await this.#erase(this.#file, written).catch(() => undefined);
  }

  /** Fills the bytes from the last line up to `upTo` with zeros, as reserved space. */
  async #erase(file: FileHandle, upTo: number): Promise<void> {
    const zeros = Math.max(Math.min(upTo, this.#reserved) - this.#end, 0);
    await file.write(Buffer.alloc(zeros), 0, zeros, this.#end);
    if (upTo > this.#reserved) await file.truncate(Math.max(this.#end, this.#reserved));
    await file.datasync();
  }
}

/** How many charges the journals in a folder hold; 0 where there is no such folder. */
export async function chargesIn(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.journal'));
  let count = 0;
  for (const name of names) {
    // A process may rename or remove its own meanwhile.
    const bytes = await readFile(join(folder, name)).catch(() => Buffer.alloc(0));
    count += linesIn(bytes).entries.length;
  }
  return count;
}
