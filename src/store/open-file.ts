import { statSync } from 'node:fs';

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
