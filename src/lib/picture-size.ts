import { disableTypes, imageSize, types } from 'image-size';

/** Width and height in pixels. */
export interface PictureSize {
  width: number;
  height: number;
}

/** The squares of so many pixels a side that cover a picture. */
export function squaresOf({ width, height }: PictureSize, side: number): number {
  return Math.max(1, Math.ceil(width / side)) * Math.max(1, Math.ceil(height / side));
}

/** The types that upstreams take. Readers of others would only widen what a client can reach. */
const READ = new Set(['png', 'jpg', 'gif', 'webp']);
disableTypes(types.filter((type) => !READ.has(type)));

/** The size of a JPEG may stand behind pages of metadata. */
const HEAD_CHARACTERS = 400_000;

/** The size of a picture by the head of its base64; undefined if it does not tell it. */
export function pictureSize(base64: string): PictureSize | undefined {
  try {
    // The reader would read on behind the bytes, which share their memory with others.
    const head = new Uint8Array(Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64'));
    const { width, height } = imageSize(head);
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}
