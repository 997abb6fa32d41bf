import type { ProviderOperation } from '../../core/provider.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { isChatCodec } from './codec.js';
import { preparedCodec } from './prepared-codec.js';

/** Reads the chat operation of a manifest; undefined if it has none, or has faults in it. */
export async function readChat({
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const { path, codec: name, max = Infinity, image_urls } = data.operations?.chat ?? {};
  const codec = await importPart('/operations/chat/codec', name, 'chat', isChatCodec);
  return codec && path !== undefined
    ? { path, codec: preparedCodec(codec), max, ...(image_urls && { image_urls }) }
    : undefined;
}
