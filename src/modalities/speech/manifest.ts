import type { ProviderOperation } from '../../core/provider.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { isSpeechCodec } from './codec.js';

/** The speech operation of a manifest. */
export async function readSpeech({
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const { path, codec: name } = data.operations?.speech ?? {};
  const codec = await importPart('/operations/speech/codec', name, 'speech', isSpeechCodec);
  return codec && path !== undefined ? { path, codec, max: 1 } : undefined;
}
