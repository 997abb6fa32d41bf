import { passthroughFields } from '../../../pipeline/passthrough.js';
import { usageBody, type Bill } from '../../../billing/bill.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { TextFields } from '../../../pipeline/text-walk.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import type { ImageAnswer } from '../send.js';
import { imagePrice, kindIn } from '../price.js';
import { dropNulls } from '../../../lib/objects.js';
import { GatewayError, refuseField } from '../../../core/errors.js';
import type { ImageGenerationBody } from '../../../schema-types/image-generation.js';
import type { ImageCall, OwnImageFields } from '../codec.js';
import type { Model, Price, Upstream } from '../../../core/model.js';

/** An image request, fitted to its model. `n` is the number of images of the whole request. */
export interface ImageWork {
  call: ImageCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** A client format of the image modality. */
export interface ImageFormat extends RequestFormat {
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): ImageWork;
  write(answer: ImageAnswer, bill: Bill): object;
}

/** Fields that are not texts. All others are. */
export const IMAGE_TEXTS: TextFields = {
  model: 'kept',
  size: 'kept',
  quality: 'kept',
  response_format: 'kept',
  style: 'kept',
  background: 'kept',
  moderation: 'kept',
  output_format: 'kept',
  input_fidelity: 'kept',
};

/** The image format of the service specification (2.6 and 2.7); unknown usage is zeros. */
export const imageGeneration: ImageFormat = {
  name: 'image-generation',
  endpoint: spendingEndpoint('images', 'POST /v1/images/generations', {
    modality: 'image',
    format: 'image-generation',
  }),
  description: {
    summary: 'Create images',
    status: 200,
    content: { 'application/json': 'image-generation-response' },
  },
  repair: dropNulls,
  texts: IMAGE_TEXTS,
  modelOf: (body) => (body as ImageGenerationBody).model,
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => imageWork(body as ImageGenerationBody, model),
  write: ({ created, data }, { usage }) => ({ created, data, usage: usageBody(usage) }),
};

/** The most images of a request, if gateway.yaml sets no limit. */
const DEFAULT_IMAGES = 10;
const DEFAULT_SIZE = '1024x1024';
/**
 * The most pixels at a price that does not depend on size: upstreams charge more for larger ones.
 */
const DEFAULT_PIXELS = 2 ** 21;
/** The limits of a side in pixels: no known provider makes other images. */
const MIN_SIDE = 16;
const MAX_SIDE = 8_192;

/** Fields that the gateway reads itself: neither passed through nor reported as ignored. */
const OWN = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'response_format',
  'style',
  'stream',
  'partial_images',
]);

/** How an API differs from the service's contract. */
export interface ImageApi {
  /** The fields that only this API has. */
  own_fields?: OwnImageFields;
  /** The form of images for which a client does not ask. */
  response_format?: ImageCall['response_format'];
}

/**
 * Fits a valid body to a model (specification 2.6). Size and quality are always sent if the price
 * depends on them, so that the upstream does not choose a dearer image. Throws `GatewayError`.
 */
export function imageWork(
  body: ImageGenerationBody,
  model: Model,
  { own_fields, response_format: usual = 'url' }: ImageApi = {},
): ImageWork {
  const { prompt, n = 1, quality, response_format = usual, style } = body;
  checkCount(n, model);
  if (prompt.trim() === '') refuseField('prompt', 'must not be empty');
  if (body.stream) refuseField('stream', 'must be false: images are not streamed here');
  if (body.partial_images) refuseField('partial_images', 'must be 0: images are not streamed here');
  const given = Object.fromEntries(
    Object.entries(body).filter(([, value]) => (value as unknown) !== null),
  );
  for (const name of Object.keys(own_fields ?? {})) delete given[name];
  const { fields, ignored } = passthroughFields(given, OWN, (name) => model.passthrough.has(name));
  const { price } = model;
  const isAuto = body.size === 'auto';
  const call: ImageCall = {
    prompt,
    n,
    size: isAuto ? undefined : sizeOf(body.size ?? pricedSize(price)),
    ...(isAuto && { any_size: true }),
    quality: quality ?? pricedQuality(price),
    style,
    response_format,
    fields,
    ...(own_fields && { own_fields }),
  };
  return { call, ignored };
}

/** The values of fields that a body leaves out. */
export function imageDefaults({ price }: Model): Record<string, string | number> {
  const size = pricedSize(price);
  const quality = pricedQuality(price);
  return { n: 1, ...(size && { size }), ...(quality && { quality }), response_format: 'url' };
}

/** The upstreams that can do the call. Throws `GatewayError` if none can. */
function able({ images }: ImageCall, { id, upstreams }: Model): readonly Upstream[] {
  if (!images) return upstreams;
  const editing = upstreams.filter(({ provider }) => provider.operations.get('image')?.edit);
  if (editing.length > 0) return editing;
  const message = `The model "${id}" does not edit images.`;
  throw new GatewayError('unsupported_capability', message, { param: 'model' });
}

/**
 * The upstreams that have a price for the call. Throws `GatewayError` (400) if there is none,
 * before any money is held.
 */
export function priced(call: ImageCall, model: Model): readonly Upstream[] {
  const { id, limits } = model;
  const upstreams = able(call, model);
  const max = limits.image_pixels ?? DEFAULT_PIXELS;
  const sold = upstreams.filter(({ price }) => imagePrice(price, call) !== undefined);
  const fitting = sold.filter(({ price }) => dependsOnSize(price) || pixelsOf(call) <= max);
  const [first] = upstreams;
  if (fitting.length > 0 || !first) return fitting;
  if (sold.length > 0) {
    const side = Math.floor(Math.sqrt(max));
    refuseField('size', `must have at most ${max} pixels for ${id}, such as ${side}x${side}`);
  }
  return refuseUnpriced(call, first.price);
}

/** Refuses the field whose value has no price, and names the values that have one. */
function refuseUnpriced(call: ImageCall, { per_image }: Price): never {
  const listed = [...(per_image?.keys() ?? [])].map(kindIn);
  const words = (name: 'size' | 'quality'): string[] => [
    ...new Set(listed.flatMap((one) => one[name] ?? [])),
  ];
  const [sizes, qualities] = [words('size'), words('quality')];
  const text = call.size && `${call.size.width}x${call.size.height}`;
  const isSize = qualities.length === 0 || (text !== undefined && !sizes.includes(text));
  const param = isSize && sizes.length > 0 ? 'size' : 'quality';
  return refuseField(param, `must be one of ${words(param).join(', ')}`);
}

/** Whether larger images have their own price, by size or by tokens, or are free. */
function dependsOnSize({ free, per_image }: Price): boolean {
  if (free || !per_image) return true;
  return [...per_image.keys()].some((key) => kindIn(key).size !== undefined);
}

function pixelsOf({ size }: ImageCall): number {
  return size ? size.width * size.height : 0;
}

function checkCount(n: number, { id, limits }: Model): void {
  const max = limits.images ?? DEFAULT_IMAGES;
  if (n > max) refuseField('n', `must be at most ${max} for ${id}`);
}

/** The default size if the price depends on size: the usual one, else the first. */
function pricedSize({ per_image }: Price): string | undefined {
  const sizes = [...(per_image?.keys() ?? [])].flatMap((key) => kindIn(key).size ?? []);
  return sizes.includes(DEFAULT_SIZE) ? DEFAULT_SIZE : sizes[0];
}

/** The default quality if the price depends on quality. */
function pricedQuality({ per_image }: Price): 'standard' | 'medium' | undefined {
  const listed = [...(per_image?.keys() ?? [])].map((key) => kindIn(key).quality);
  return (['standard', 'medium'] as const).find((word) => listed.includes(word));
}

function sizeOf(text: string | undefined): ImageCall['size'] {
  if (text === undefined) return undefined;
  const [, width = 0, height = 0] = (/^([1-9]\d{0,4})x([1-9]\d{0,4})$/u.exec(text) ?? []).map(
    Number,
  );
  const isSane = [width, height].every((side) => side >= MIN_SIDE && side <= MAX_SIDE);
  if (isSane) return { width, height };
  return refuseField('size', `must be auto, or WIDTHxHEIGHT, each from ${MIN_SIDE} to ${MAX_SIDE}`);
}
