import { quote, type Source } from '../../yaml/source.js';
import {
  payersOf,
  placeOf,
  type CheckedModel,
  type CheckedUpstream,
} from '../../pipeline/model-check.js';

/** Warns of likely mistakes in a model that makes images, or has limits or prices for images. */
export function checkImageModel(model: CheckedModel): void {
  if (model.capabilities.has('image')) {
    checkWork(model);
    checkOutput(model);
  }
  checkPixels(model);
  checkMegapixel(model);
  for (const payers of payersOf(model)) checkSinglePrice(model.source, payers);
}

/** The IDs of models that take text, are priced by tokens, and make images. */
const MAKES_IMAGES = /image|imagen|banana|dall-?e|flux/i;

/** Warns of image generation by a model that only writes text: most likely it is to see images. */
function checkWork(model: CheckedModel): void {
  const { source, capabilities, upstreams } = model;
  if (!capabilities.has('chat')) return;
  const writer = upstreams.find(
    ({ listed }) =>
      listed?.units.includes('output_per_million') && !MAKES_IMAGES.test(listed.model),
  );
  if (!writer?.listed) return;
  source.fault(placeOf(model, 'image'), {
    code: 'other_work',
    message: `capabilities: ${quote(writer.listed.model)} makes no images, so image fails`,
    hint: capabilities.has('vision') ? 'remove image' : 'write vision: the model sees images then',
    severity: 'warning',
  });
}

/** Output tokens of one square image in high quality. */
const MADE_IMAGE_TOKENS = 4_160;

/** Warns where `max_tokens`, by which images paid in tokens are held for, is below one image. */
function checkOutput({ source, pointer, limits, capabilities, upstreams }: CheckedModel): void {
  const { max_tokens } = limits;
  const isPaid = upstreams.some(({ upstream }) => upstream.price.output_nano_per_million > 0n);
  if (max_tokens === undefined || capabilities.has('chat') || !isPaid) return;
  if (max_tokens >= MADE_IMAGE_TOKENS) return;
  const place = `${pointer}/limits/max_tokens`;
  source.fault(place, {
    code: 'low_max_tokens',
    message: `limits.max_tokens: ${source.word(place)} may be less than an image made here costs`,
    hint: `one of 1024x1024 in high quality takes ${MADE_IMAGE_TOKENS} tokens`,
    severity: 'warning',
  });
}

/** The pixels of the smallest images that upstreams make, 256 by 256. */
const SMALL_IMAGE_PIXELS = 65_536;

/** Warns of fewer pixels than any image has: most likely they are the length of one side. */
function checkPixels({ source, pointer, limits: { image_pixels } }: CheckedModel): void {
  if (image_pixels === undefined || image_pixels >= SMALL_IMAGE_PIXELS) return;
  const place = `${pointer}/limits/image_pixels`;
  source.fault(place, {
    code: 'low_image_pixels',
    message: `limits.image_pixels: ${source.word(place)} is less than the smallest image has`,
    hint: 'write width times height: 1048576 for 1024x1024',
    severity: 'warning',
  });
}

/** Warns of a round million, which is less than the image of a megapixel has. */
function checkMegapixel({ source, pointer, limits }: CheckedModel): void {
  if (limits.image_pixels !== 1_000_000) return;
  source.fault(`${pointer}/limits/image_pixels`, {
    code: 'low_image_pixels',
    message: 'limits.image_pixels: 1024x1024 has 1048576 pixels, so that size is refused',
    hint: 'write 1048576',
    severity: 'warning',
  });
}

/** The models that cost many times as much for an image of high quality as for one of low. */
const BY_QUALITY = /\bgpt-image\b/;

/** Warns of one price for all images of a model whose upstream charges by quality. */
function checkSinglePrice(source: Source, payers: readonly CheckedUpstream[]): void {
  const dear = payers.find(({ upstream: { model, price, set } }) => {
    return BY_QUALITY.test(model) && price.per_image?.has('any') && !('quality' in set);
  });
  const place = `${dear?.price_at}/per_image`;
  if (!dear || source.text(place) === undefined) return;
  const model = quote(dear.upstream.model);
  source.fault(place, {
    code: 'uncovered_kind',
    message: `per_image: one price is for every quality, and ${model} costs by quality`,
    hint: 'write { low: PRICE, standard: PRICE, hd: PRICE }, or set: { quality: medium } there',
    severity: 'warning',
  });
}
