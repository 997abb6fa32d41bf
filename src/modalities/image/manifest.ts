import type { ProviderOperation } from '../../core/provider.js';
import { missingKey, refuseBeside } from '../../mapping/manifest-faults.js';
import type { ManifestReader } from '../../pipeline/modality.js';
import { isImageCodec } from './codec.js';
import { mapImages } from './template.js';

const PLACE = '/operations/image';
const TEMPLATES = ['headers', 'accepts', 'request', 'response'] as const;

/** How a manifest makes images: by a codec that it names, or by its own templates. */
export async function readImage({
  source,
  data,
  importPart,
}: ManifestReader): Promise<ProviderOperation | undefined> {
  const image = data.operations?.image;
  if (!image) return undefined;
  const { max = 1, codec: name } = image;
  if (!source.marks.has(`${PLACE}/codec`)) {
    for (const part of ['request', 'response'] as const) {
      if (!source.marks.has(`${PLACE}/${part}`)) {
        missingKey(source, PLACE, part, 'or name a codec');
      }
    }
    // The templates give the whole path themselves.
    return { path: '', codec: mapImages(source, image), max };
  }
  refuseBeside(source, PLACE, TEMPLATES, '"codec"');
  const path =
    typeof image.path === 'string' && /^(\/|$)/.test(image.path) ? image.path : undefined;
  if (path === undefined && image.path !== undefined) {
    const message = 'beside a codec, "path" is only text such as /images/generations';
    source.fault(`${PLACE}/path`, { code: 'wrong_value', message });
  }
  const codec = await importPart(`${PLACE}/codec`, name, 'image', isImageCodec);
  return codec && { path: path ?? '', codec, max };
}
