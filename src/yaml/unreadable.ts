/** The file is missing, is a folder, or cannot be read for another reason. */
export class Unreadable extends Error {
  override name = 'Unreadable';
}

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read',
  EISDIR: 'is a folder: name the file in it',
  ENOTREG: 'is no regular file',
  EFBIG: 'is larger than 4 MB',
};

/** Describes why a file could not be read. */
export function unreadable(file: string, error: unknown): Unreadable {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return new Unreadable(`${file} ${REASONS[code] ?? 'cannot be read'}`, { cause: error });
}
