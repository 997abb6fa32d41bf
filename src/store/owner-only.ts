import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Modes of files and folders that only their owner may read, whatever the umask. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/**
 * Makes the file of a SQLite database, where there is none, and lets only its owner read it. SQLite
 * gives the same mode to the files beside it; those of an older version are tightened too. A folder
 * that is made here is its owner's alone; one that was there is the operator's to judge. What
 * cannot be done, SQLite tells in its own words when it opens the file.
 */
export function makePrivate(file: string): void {
  makePrivateFolder(dirname(file));
  // A file that was there is not opened: closing it again would give up the locks of SQLite.
  quietly(() => closeSync(openSync(file, 'wx', PRIVATE_FILE)));
  for (const one of [file, `${file}-wal`, `${file}-shm`]) {
    quietly(() => {
      if (statSync(one).isFile()) chmodSync(one, PRIVATE_FILE);
    });
  }
}

/** Throws where the folder cannot be made. */
export function makePrivateFolder(folder: string): void {
  const made = mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (made !== undefined) chmodSync(folder, PRIVATE_FOLDER);
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // It was there already, or is not ours to change.
  }
}
