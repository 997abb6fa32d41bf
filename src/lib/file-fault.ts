import { dirname } from 'node:path';

/**
 * One sentence for an error of the operating system about a file: it names the file and a remedy.
 * Undefined for any other error.
 */
export function fileFault(file: string, error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `this user has no permission for ${file}: change its owner or mode, or its folder's`;
    case 'EROFS':
      return `${file} is on a disk that cannot be written: name a place elsewhere`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk of ${file} is full: make room on it`;
    case 'EIO':
      return `${file} cannot be read or written: check its disk`;
    case 'ENOENT':
      return `there is no folder ${dirname(file)}: make it first`;
    case 'EEXIST':
    case 'ENOTDIR':
      return `a folder above ${file} is a file: rename that file, or name a place elsewhere`;
    default:
      return undefined;
  }
}
