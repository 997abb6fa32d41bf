import type { ProviderOperation } from '../../core/provider.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { isTranscriptionCodec } from './codec.js';

/** The transcription operation of a manifest, with its path for translations. */
export async function readTranscription({
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const { path, codec: name, translate } = data.operations?.transcription ?? {};
  const place = '/operations/transcription/codec';
  const codec = await importPart(place, name, 'transcription', isTranscriptionCodec);
  if (!codec || path === undefined) return undefined;
  return { path, codec, max: 1, ...(translate !== undefined && { translate }) };
}
