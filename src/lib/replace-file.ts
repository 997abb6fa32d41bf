import { rename, rm, writeFile } from 'node:fs/promises';

/** Replaces a file in one step: whoever reads it never sees a part. */
export async function replaceFile(file: string, text: string, mode = 0o666): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
