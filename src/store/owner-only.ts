import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Modes of files and folders that only their owner may read, whatever the umask. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/**
 * Creates the file of a SQLite database if it is missing, and lets only its owner read it. SQLite
 * gives the same mode to the files beside it; files of an older version are tightened too. A folder
 * that is created here is private as well; the mode of an existing folder stays. Errors are
 * ignored: SQLite reports them when it opens the file.
 */
export function makePrivate(file: string): void {
  makePrivateFolder(dirname(file));
  // An existing file is not opened: closing it again would release the locks of SQLite.
  quietly(() => closeSync(openSync(file, 'wx', PRIVATE_FILE)));
  for (const one of [file, `${file}-wal`, `${file}-shm`]) {
    quietly(() => {
      if (statSync(one).isFile()) chmodSync(one, PRIVATE_FILE);
    });
  }
}

/** Creates a folder that only its owner may read. Throws if it cannot be created. */
export function makePrivateFolder(folder: string): void {
  const made = mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (made !== undefined) chmodSync(folder, PRIVATE_FOLDER);
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // The file exists already, or belongs to another user.
  }
}
