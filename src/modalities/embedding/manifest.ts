import type { ProviderOperation } from '../../core/provider.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { isEmbeddingCodec } from './codec.js';

/** The embedding operation of a manifest. */
export async function readEmbedding({
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const { path, codec: name } = data.operations?.embedding ?? {};
  const place = '/operations/embedding/codec';
  const codec = await importPart(place, name, 'embedding', isEmbeddingCodec);
  return codec && path !== undefined ? { path, codec, max: 1 } : undefined;
}
