import { GatewayError } from '../../core/errors.js';
import { base64Of, headOf } from '../../lib/data-url.js';
import { sniffImageType } from '../../lib/image-type.js';
import type { VideoCall } from './codec.js';

type Image = NonNullable<VideoCall['image']>;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;

const TYPES: readonly Image['mime_type'][] = ['image/png', 'image/jpeg', 'image/webp'];

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
  const type = sniffImageType(headOf(base64));
  return TYPES.find((one) => one === type);
}

/** Adds the padding, which some clients leave out and some upstreams require. */
function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
}
