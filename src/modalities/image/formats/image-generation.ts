import { usageBody, type Bill } from '../../../billing/bill.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { TextFields } from '../../../pipeline/text-walk.js';
import { spendingEndpoint } from '../../../pipeline/fallback.js';
import type { ImageAnswer } from '../send.js';
import { imagePrice, kindIn } from '../price.js';
import { dropNulls } from '../../../lib/drop-nulls.js';
import { headerSafe } from '../../../http/request-body.js';
import { GatewayError } from '../../../core/errors.js';
import type { ImageGenerationBody } from '../../../schema-types/image-generation.js';
import type { ImageCall } from '../codec.js';
import type { Model, Price, Upstream } from '../../../core/model.js';
import { checkAddresses } from '../../../upstream/client-url.js';

/** An image request as the chosen model takes it; `n` is all that was asked for. */
export interface ImageWork {
  call: ImageCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** How clients speak to the image modality. */
export interface ImageFormat extends RequestFormat {
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): ImageWork;
  write(answer: ImageAnswer, bill: Bill): object;
}

/** Words of the contract and of its upstreams; the rest are texts. */
export const IMAGE_TEXTS: TextFields = {
  model: 'kept',
  size: 'kept',
  quality: 'kept',
  response_format: 'kept',
  style: 'kept',
  background: 'kept',
  moderation: 'kept',
  output_format: 'kept',
};

/** The image format of the service specification (2.6 and 2.7); unknown usage is zeros. */
export const imageGeneration: ImageFormat = {
  name: 'image-generation',
  endpoint: spendingEndpoint('images', 'POST /v1/images/generations', {
    modality: 'image',
    format: 'image-generation',
  }),
  description: {
    summary: 'Make images',
    status: 200,
    content: { 'application/json': 'image-generation-response' },
  },
  repair: dropNulls,
  texts: IMAGE_TEXTS,
  modelOf: (body) => (body as ImageGenerationBody).model,
  // The schema vouches for the body: its type is made from it.
  read: (body, model) => imageWork(body as ImageGenerationBody, model),
  write: ({ created, data }, { usage }) => ({ created, data, usage: usageBody(usage) }),
};

/** Of a model for which the file says nothing else. */
const DEFAULT_IMAGES = 10;
const DEFAULT_SIZE = '1024x1024';
/** The most pixels that a price covers which does not go by size: above it, upstreams take more. */
const DEFAULT_PIXELS = 2 ** 21;
/** Pixels of a side: what is outside is a mistake at every known provider. */
const LEAST_SIDE = 16;
const LONGEST_SIDE = 8_192;

/** Read by the gateway itself, so neither sent on as they are nor named as ignored. */
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

/**
 * Fits a valid body to a model (specification 2.6). What an image's price goes by is always said
 * to the upstream, so that it does not choose something dearer. Throws `GatewayError`.
 */
export function imageWork(body: ImageGenerationBody, model: Model): ImageWork {
  const { prompt, n = 1, quality, response_format = 'url', style } = body;
  checkCount(n, model);
  if (prompt.trim() === '') refuse('prompt', 'must not be empty');
  if (body.stream) refuse('stream', 'must be false: images are not streamed here');
  if (body.partial_images) refuse('partial_images', 'must be 0: images are not streamed here');
  const { fields, ignored } = travelling(body, model);
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
  };
  return { call, ignored };
}

/** The kind of image that a body gets which names none. */
export function imageDefaults({ price }: Model): Record<string, string | number> {
  const size = pricedSize(price);
  const quality = pricedQuality(price);
  return { n: 1, ...(size && { size }), ...(quality && { quality }), response_format: 'url' };
}

/** Those of the upstreams that can do what is asked for. Throws `GatewayError` where none can. */
function able({ images }: ImageCall, { id, upstreams }: Model): readonly Upstream[] {
  if (!images) return upstreams;
  const editing = upstreams.filter(({ provider }) => provider.operations.get('image')?.edit);
  if (editing.length > 0) return editing;
  const message = `The model "${id}" does not edit images.`;
  throw new GatewayError('unsupported_capability', message, { param: 'model' });
}

/**
 * Those of the upstreams that have a price for what is asked for. Throws `GatewayError` (400) where
 * there is none, before any money is held.
 */
export function priced(call: ImageCall, model: Model): readonly Upstream[] {
  const { id, limits } = model;
  const upstreams = able(call, model);
  const most = limits.image_pixels ?? DEFAULT_PIXELS;
  const sold = upstreams.filter(({ price }) => imagePrice(price, call) !== undefined);
  const fitting = sold.filter(({ price }) => goesBySize(price) || pixelsOf(call) <= most);
  const [first] = upstreams;
  if (fitting.length > 0 || !first) return fitting;
  if (sold.length > 0) {
    const side = Math.floor(Math.sqrt(most));
    refuse('size', `must have at most ${most} pixels for ${id}, such as ${side}x${side}`);
  }
  return refuseUnpriced(call, first.price);
}

/** Names the field that no price covers, and the values that one does. */
function refuseUnpriced(call: ImageCall, { per_image }: Price): never {
  const listed = [...(per_image?.keys() ?? [])].map(kindIn);
  const words = (name: 'size' | 'quality'): string[] => [
    ...new Set(listed.flatMap((one) => one[name] ?? [])),
  ];
  const [sizes, qualities] = [words('size'), words('quality')];
  const text = call.size && `${call.size.width}x${call.size.height}`;
  const isSize = qualities.length === 0 || (text !== undefined && !sizes.includes(text));
  const param = isSize && sizes.length > 0 ? 'size' : 'quality';
  return refuse(param, `must be one of ${words(param).join(', ')}`);
}

/** True where a larger image has a price of its own, by its size or by its tokens, or is free. */
function goesBySize({ free, per_image }: Price): boolean {
  if (free || !per_image) return true;
  return [...per_image.keys()].some((key) => kindIn(key).size !== undefined);
}

function pixelsOf({ size }: ImageCall): number {
  return size ? size.width * size.height : 0;
}

function checkCount(n: number, { id, limits }: Model): void {
  const most = limits.images ?? DEFAULT_IMAGES;
  if (n > most) refuse('n', `must be at most ${most} for ${id}`);
}

/** Where the price goes by size, a request that names none gets the usual one, or the first. */
function pricedSize({ per_image }: Price): string | undefined {
  const sizes = [...(per_image?.keys() ?? [])].flatMap((key) => kindIn(key).size ?? []);
  return sizes.includes(DEFAULT_SIZE) ? DEFAULT_SIZE : sizes[0];
}

/** Where the price goes by quality, a request that names none gets the usual one. */
function pricedQuality({ per_image }: Price): 'standard' | 'medium' | undefined {
  const listed = [...(per_image?.keys() ?? [])].map((key) => kindIn(key).quality);
  return (['standard', 'medium'] as const).find((word) => listed.includes(word));
}

function sizeOf(text: string | undefined): ImageCall['size'] {
  if (text === undefined) return undefined;
  const [, width = 0, height = 0] = (/^([1-9]\d{0,4})x([1-9]\d{0,4})$/u.exec(text) ?? []).map(
    Number,
  );
  const isSane = [width, height].every((side) => side >= LEAST_SIDE && side <= LONGEST_SIDE);
  if (isSane) return { width, height };
  return refuse(
    'size',
    `must be auto, or WIDTHxHEIGHT, each from ${LEAST_SIDE} to ${LONGEST_SIDE}`,
  );
}

function travelling(
  body: ImageGenerationBody,
  { passthrough }: Model,
): { fields: Record<string, unknown>; ignored: string[] } {
  const others = Object.entries(body).filter(
    ([name, value]) => !OWN.has(name) && (value as unknown) !== null,
  );
  const sent = others.filter(([name]) => passthrough.has(name));
  const left = others.filter(([name]) => !passthrough.has(name));
  for (const [name, value] of sent) checkAddresses(value, name);
  return {
    fields: Object.fromEntries(sent),
    ignored: [...new Set(left.map(([name]) => headerSafe(name)))],
  };
}

function refuse(param: string, complaint: string): never {
  throw new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}
