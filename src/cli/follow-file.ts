import { unwatchFile, watchFile } from 'node:fs';

const LOOK_MS = 500;

/** Calls back when the file has changed, or on SIGHUP. Answers how to stop that. */
export function followFile(file: string, changed: () => void): () => void {
  // Looking at the file, rather than being told, also sees editors that replace it.
  watchFile(file, { interval: LOOK_MS, persistent: false }, changed);
  process.on('SIGHUP', changed);
  return () => {
    unwatchFile(file, changed);
    process.off('SIGHUP', changed);
  };
}
