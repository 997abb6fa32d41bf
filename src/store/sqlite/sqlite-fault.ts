import { fileFault } from '../../lib/file-fault.js';
import { codeOf } from '../retry.js';
import { StoreUnreachable } from '../store-error.js';

const SENTENCES: readonly [code: RegExp, sentence: (file: string) => string][] = [
  [/^SQLITE_FULL$/u, (file) => `the disk of ${file} is full: make room on it`],
  [
    /^SQLITE_READONLY/u,
    (file) => `${file} cannot be written: let this user write the file and its folder`,
  ],
  [
    /^SQLITE_(CANTOPEN|PERM|AUTH)/u,
    (file) => `${file} cannot be opened: let this user read and write the file and its folder`,
  ],
  [
    /^SQLITE_IOERR/u,
    (file) => `${file} cannot be read or written: check its disk, and whether it is full`,
  ],
  [
    /^SQLITE_NOTADB$/u,
    (file) => `${file} is not a SQLite database: correct "store" in gateway.yaml`,
  ],
  [
    /^SQLITE_(BUSY|LOCKED|PROTOCOL)/u,
    (file) => `${file} is locked: end the other program that has it open`,
  ],
  [/^SQLITE_NOMEM$/u, (file) => `there is no memory for ${file}: give the process more`],
  [/^SQLITE_CORRUPT/u, (file) => `${file} is damaged: restore a backup`],
];

/**
 * The error of a SQLite file or its disk as a `StoreUnreachable` whose message is a sentence for
 * operators, without SQL. Any other error is returned as it is.
 */
export function sqliteFault(file: string, error: unknown): unknown {
  const code = codeOf(error);
  const sentence =
    SENTENCES.find(([pattern]) => pattern.test(code))?.[1](file) ?? fileFault(file, error);
  return sentence === undefined ? error : new StoreUnreachable(error, sentence);
}
