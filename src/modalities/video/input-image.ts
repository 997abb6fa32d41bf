import { GatewayError } from '../../core/errors.js';
import { base64Of } from '../../lib/data-url.js';
import type { VideoCall } from './codec.js';

type Image = NonNullable<VideoCall['image']>;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;

/** How many characters of base64 hold the signature of every image type. */
const HEAD_CHARACTERS = 24;

/**
 * Reads an image from base64 or a data: URL. Its first bytes determine the type, not the URL.
 * Throws `GatewayError` (400) if it is not a PNG, JPEG or WebP.
 */
export function readImage(text: string): Image {
  const base64 = base64Of(text).replaceAll(/[\r\n]/gu, '');
  const mime_type = BASE64.test(base64) && base64.length % 4 !== 1 && mimeOf(base64);
  if (mime_type) return { base64: padded(base64), mime_type };
  throw new GatewayError(
    'invalid_request',
    'parameters.image must be base64 of a PNG, JPEG or WebP image.',
    { param: 'parameters.image' },
  );
}

function mimeOf(base64: string): Image['mime_type'] | undefined {
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64').toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'image/webp';
  return undefined;
}

/** Adds the padding, which some clients leave out and some upstreams require. */
function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
}
