/** The first characters of each format. */
const MARKS: readonly { type: string; mark: RegExp }[] = [
  { type: 'image/png', mark: /^\u0089PNG\r\n[^]\n/u },
  { type: 'image/jpeg', mark: /^\u00ff\u00d8\u00ff/u },
  { type: 'image/gif', mark: /^GIF8/u },
  { type: 'image/webp', mark: /^RIFF[^]{4}WEBP/u },
  { type: 'image/avif', mark: /^[^]{4}ftypavi[fs]/u },
];
const MARK_BYTES = 12;

/** The type of a file that no mark fits. No browser shows or runs it. */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** The media type of an image by its first bytes. */
export function sniffImageType(bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, MARK_BYTES);
  return MARKS.find(({ mark }) => mark.test(head))?.type ?? UNKNOWN_TYPE;
}
