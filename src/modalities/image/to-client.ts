import type { ClientConnection } from '../../http/client-connection.js';
import type { Services } from '../../pipeline/services.js';
import { assertPublic } from '../../upstream/ssrf-guard.js';
import type { ImageCall, GeneratedImage } from './codec.js';
import { fetchImage, isInternal } from './fetch-image.js';
import { hostedImageUrl } from './hosted-url.js';
import { base64Of, bytesOfBase64, isDataUrl } from '../../lib/data-url.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';

/** One element of `data` (specification 2.7). */
export interface ImageDatum {
  url?: string;
  b64_json?: string;
  revised_prompt: string;
}

const URL_CHARACTERS = 8_192;

/**
 * Converts an image to the form that the client wants. A URL that every client can open is passed
 * on unchanged. Throws `UpstreamError` for an image without bytes or address.
 */
export async function toClientFormat(
  image: GeneratedImage,
  call: ImageCall,
  upstream: Upstream,
  { signal, memory, account_id }: ClientConnection,
  services: Services,
): Promise<ImageDatum> {
  const { provider } = upstream;
  const revised_prompt = image.revised_prompt || call.prompt;
  const { image_bytes } = services.configuration.limits;
  const inline = image.b64_json ?? (isDataUrl(image.url) ? image.url : undefined);
  const { url = '' } = image;
  if (inline === undefined && url.length > URL_CHARACTERS) {
    throw new UpstreamError('broken', 'The upstream gave an image without an address.');
  }
  const isUrl = call.response_format === 'url';
  if (inline === undefined && isUrl && !isInternal(url, provider)) {
    assertPublic(url);
    return { url, revised_prompt };
  }
  const bytes =
    inline === undefined
      ? await fetchImage(url, provider, image_bytes, services.network, signal)
      : inlineBytes(inline);
  check(bytes, image_bytes);
  if (inline === undefined) memory?.grow(bytes.length);
  if (isUrl) {
    const owner = { account_id, free: upstream.price.free };
    return { url: await hostedImageUrl(bytes, owner, services), revised_prompt };
  }
  return { b64_json: bytes.toString('base64'), revised_prompt };
}

/** Decoding skips the characters of a text that is not base64. */
function inlineBytes(text: string): Buffer {
  const base64 = base64Of(text);
  if (!/[^A-Za-z0-9+/=_\s-]/u.test(base64)) return bytesOfBase64(base64);
  throw new UpstreamError('broken', 'The upstream gave an image that is not base64.');
}

function check({ length }: Buffer, limit_bytes: number): void {
  if (length === 0) throw new UpstreamError('broken', 'The upstream gave an empty image.');
  if (length <= limit_bytes) return;
  throw new UpstreamError('broken', `The upstream's image is larger than ${limit_bytes} bytes.`);
}
