import { compileErrors } from '../mapping/errors.js';
import { mapImages } from '../modalities/image/template.js';
import { mapVideos } from '../modalities/video/template.js';
import type { ProviderManifest } from '../schema-types/provider.js';
import type { ImageOperation, Provider, VideoOperation } from '../core/provider.js';
import { importPart } from './adapter.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { Draft } from '../yaml/validate.js';

export type Media = Pick<Provider, 'image' | 'video' | 'read_error'>;
type Data = Draft<ProviderManifest>;

const TEMPLATES = ['headers', 'accepts', 'request', 'response'] as const;
const VIDEO_TEMPLATES = ['video.submit', 'video.status', 'video.result', 'video.content'] as const;

/** How a manifest makes pictures and videos: by a codec that it names, or by its own templates. */
export async function readMedia(source: Source, data: Data, manifest: string): Promise<Media> {
  const image = await readImage(source, data, manifest);
  const video = await readVideo(source, data, manifest);
  const read_error = compileErrors(source, data.errors);
  return { ...(image && { image }), ...(video && { video }), ...(read_error && { read_error }) };
}

async function readImage(
  source: Source,
  { operations = {} }: Data,
  manifest: string,
): Promise<ImageOperation | undefined> {
  const { image } = operations;
  if (!image) return undefined;
  const { most = 1, codec: name } = image;
  const place = `/operations${join('image')}`;
  if (!source.marks.has(`${place}/codec`)) {
    for (const part of ['request', 'response'] as const) {
      if (!source.marks.has(`${place}/${part}`)) lacks(source, place, part);
    }
    // The templates give the whole path themselves.
    return { path: '', codec: mapImages(source, image), most };
  }
  refuseBoth(source, place, TEMPLATES);
  const path =
    typeof image.path === 'string' && /^(\/|$)/.test(image.path) ? image.path : undefined;
  if (path === undefined && image.path !== undefined) {
    const message = 'beside a codec, "path" is only text such as /images/generations';
    source.fault(`${place}/path`, { code: 'wrong_value', message });
  }
  const codec = await importPart(source, `${place}/codec`, name, manifest, 'image');
  return codec && { path: path ?? '', codec, most };
}

async function readVideo(
  source: Source,
  { operations = {} }: Data,
  manifest: string,
): Promise<VideoOperation | undefined> {
  const { video, 'video.submit': submit, 'video.status': status } = operations;
  if (video) {
    refuseBoth(source, '/operations', VIDEO_TEMPLATES, '"video"');
    const codec = await importPart(
      source,
      '/operations/video/codec',
      video.codec,
      manifest,
      'video',
    );
    return codec && { codec, most: video.most ?? 1 };
  }
  const first = VIDEO_TEMPLATES.find((name) => source.marks.has(`/operations${join(name)}`));
  if (first === undefined) return undefined;
  for (const name of ['video.submit', 'video.status'] as const) {
    if (!source.marks.has(`/operations${join(name)}`)) lacks(source, '/operations', name);
  }
  if (!submit || !status) return undefined;
  return { codec: mapVideos(source, operations), most: submit.most ?? 1 };
}

function lacks(source: Source, place: string, name: string): void {
  const where = place === '/operations' ? 'operations' : 'operations.image';
  const hint = where === 'operations' ? '' : 'or name a codec';
  const message = `${where} lacks the key ${quote(name)}`;
  source.fault(place, { code: 'missing_key', message, hint, at: 'key' });
}

function refuseBoth(
  source: Source,
  place: string,
  templates: readonly string[],
  other = '"codec"',
): void {
  for (const name of templates) {
    const at = place + join(name);
    if (!source.marks.has(at)) continue;
    const message = `${quote(name)} cannot stand beside ${other}`;
    source.fault(at, { code: 'unknown_key', message, hint: 'remove one of them', at: 'key' });
  }
}
