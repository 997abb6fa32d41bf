import { randomBytes } from 'node:crypto';
import type { Services } from '../../pipeline/services.js';
import { sniffImageType } from '../../lib/image-type.js';
import type { HostingTerms } from '../../store/images/hosted-images.js';

type ImageOwner = Pick<HostingTerms, 'account_id' | 'free'>;

/** Enough random bytes that nobody can guess the URL, which is fetched without a key. */
const NAME_BYTES = 24;

/**
 * Stores an image, and resolves with the URL at which it can be fetched without a key until it
 * expires. If gateway.yaml has no endpoint for hosted images, the result is a data: URL.
 */
export async function hostedImageUrl(
  bytes: Buffer,
  owner: ImageOwner,
  services: Services,
): Promise<string> {
  const { configuration, store, now } = services;
  const endpoint = configuration.endpoints.find(({ traits }) => traits?.answers === 'hosted-image');
  if (!endpoint) return `data:${sniffImageType(bytes)};base64,${bytes.toString('base64')}`;
  const { image_ttl_ms, images_total_bytes: total_bytes } = configuration.limits;
  const id = randomBytes(NAME_BYTES).toString('base64url');
  await store.images.keep(id, bytes, {
    due_ms: now() + image_ttl_ms,
    total_bytes,
    ...owner,
  });
  return configuration.public_url + endpoint.path.replace('{id}', id);
}
