import type { ProviderOperation } from '../../core/provider.js';
import { missingKey, refuseBeside } from '../../mapping/manifest-faults.js';
import type { Source } from '../../yaml/source.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { isImageCodec } from './codec.js';
import { mapImages } from './template.js';

const PLACE = '/operations/image';
const TEMPLATES = [
  'headers',
  'accepts',
  'send',
  'request',
  'response',
  'poll',
  'edit/request',
] as const;

/** Reads the image operation of a manifest, which names a codec or has templates. */
export async function readImage({
  source,
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const image = data.operations?.image;
  if (!image) return undefined;
  const { max = 1, codec: name } = image;
  if (!source.has(`${PLACE}/codec`)) {
    for (const part of ['request', 'response'] as const) {
      if (!source.has(`${PLACE}/${part}`)) {
        missingKey(source, PLACE, part, 'or name a codec');
      }
    }
    if (image.edit && !source.has(`${PLACE}/edit/request`)) {
      missingKey(source, `${PLACE}/edit`, 'request', 'or name a codec');
    }
    // The templates make the whole path.
    const edit = image.edit && { edit: { path: '' } };
    return { path: '', codec: mapImages(source, image), max, ...edit };
  }
  refuseBeside(source, PLACE, TEMPLATES, '"codec"');
  const path = plainPath(source, `${PLACE}/path`, image.path);
  const edit = image.edit && {
    edit: { path: plainPath(source, `${PLACE}/edit/path`, image.edit.path) },
  };
  const codec = await importPart(`${PLACE}/codec`, name, 'image', isImageCodec);
  return codec && { path, codec, max, ...edit };
}

/** A path without templates. Reports a fault and returns '' for any other value. */
function plainPath(source: Source, place: string, path: unknown): string {
  if (path === undefined) return '';
  if (typeof path === 'string' && /^(\/|$)/.test(path)) return path;
  const message = 'beside a codec, "path" is only text such as /images/generations';
  source.fault(place, { code: 'wrong_value', message });
  return '';
}
