import type { ProviderOperation } from '../../core/provider.js';
import { missingKey, refuseBeside } from '../../mapping/manifest-faults.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { pointer as join } from '../../yaml/source.js';
import { isVideoCodec } from './codec.js';
import { mapVideos } from './template.js';

const TEMPLATES = [
  'video.submit',
  'video.status',
  'video.result',
  'video.content',
  'video.cancel',
] as const;

/** Reads the video operation of a manifest, which names a codec or has templates. */
export async function readVideo({
  source,
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const { operations = {} } = data;
  const { video, 'video.submit': submit, 'video.status': status } = operations;
  if (video) {
    refuseBeside(source, '/operations', TEMPLATES, '"video"');
    const place = '/operations/video/codec';
    const codec = await importPart(place, video.codec, 'video', isVideoCodec);
    return codec && { path: '', codec, max: video.max ?? 1 };
  }
  const first = TEMPLATES.find((name) => source.has(`/operations${join(name)}`));
  if (first === undefined) return undefined;
  for (const name of ['video.submit', 'video.status'] as const) {
    if (!source.has(`/operations${join(name)}`)) missingKey(source, '/operations', name, '');
  }
  if (!submit || !status) return undefined;
  return { path: '', codec: mapVideos(source, operations), max: submit.max ?? 1 };
}
