import type { ProviderOperation } from '../../core/provider.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { isModerationCodec } from './codec.js';

/** The moderation operation of a manifest. */
export async function readModeration({
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const { path, codec: name } = data.operations?.moderation ?? {};
  const place = '/operations/moderation/codec';
  const codec = await importPart(place, name, 'moderation', isModerationCodec);
  return codec && path !== undefined ? { path, codec, max: 1 } : undefined;
}
