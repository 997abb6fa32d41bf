/** The signature of each format, and the offset at which it stands. */
const MARKS: readonly { type: string; at: number; mark: string }[] = [
  { type: 'image/png', at: 0, mark: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', at: 0, mark: '\xff\xd8\xff' },
  { type: 'image/gif', at: 0, mark: 'GIF8' },
  { type: 'image/webp', at: 8, mark: 'WEBP' },
  { type: 'image/avif', at: 4, mark: 'ftypavif' },
  { type: 'image/avif', at: 4, mark: 'ftypavis' },
];

/**
 * The media type of an image by its first bytes. Any other file is `application/octet-stream`,
 * which no browser shows or runs.
 */
export function sniffImageType(bytes: Buffer): string {
  const found = MARKS.find(
    ({ at, mark }) => bytes.toString('latin1', at, at + mark.length) === mark,
  );
  return found?.type ?? 'application/octet-stream';
}
