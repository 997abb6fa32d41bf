import { imagePrice } from '../billing/image.js';
import { headerSafe } from '../chat/ignored.js';
import { GatewayError } from '../errors.js';
import type { ImageGenerationBody } from '../schema-types/image-generation.js';
import type { Model, Price, Upstream } from '../types.js';
import type { ImageCall } from './codec.js';

/** An image request as the chosen model takes it; `n` is all that was asked for. */
export interface ImageWork {
  kind: 'image';
  call: ImageCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** Of a model for which the file says nothing else. */
const STANDARD_IMAGES = 10;
const STANDARD_SIZE = '1024x1024';
/** Pixels of a side: what is outside is a mistake at every known provider. */
const LEAST_SIDE = 16;
const LONGEST_SIDE = 8_192;

/** Read by the gateway itself, so neither sent on as they are nor named as ignored. */
const OWN = new Set(['model', 'prompt', 'n', 'size', 'quality', 'response_format', 'style']);

/**
 * Fits a valid body to a model (specification 2.6). What a picture's price goes by is always said
 * to the upstream, so that it does not choose something dearer. Throws `GatewayError`.
 */
export function imageWork(body: ImageGenerationBody, model: Model): ImageWork {
  const { prompt, n = 1, quality, response_format = 'url', style } = body;
  checkCount(n, model);
  if (prompt.trim() === '') refuse('prompt', 'must not be empty');
  const { fields, ignored } = travelling(body, model);
  const { price } = model;
  const call: ImageCall = {
    prompt,
    n,
    size: sizeOf(body.size ?? pricedSize(price)),
    quality: quality ?? (price.per_image?.has('standard') ? 'standard' : undefined),
    style,
    response_format,
    fields,
  };
  return { kind: 'image', call, ignored };
}

/**
 * Those of the upstreams that have a price for what is asked for. Throws `GatewayError` (400) where
 * there is none, before any money is held.
 */
export function priced(call: ImageCall, upstreams: readonly Upstream[]): readonly Upstream[] {
  const able = upstreams.filter(({ price }) => imagePrice(price, call) !== undefined);
  const [first] = upstreams;
  if (able.length > 0 || !first) return able;
  const keys = [...(first.price.per_image?.keys() ?? [])];
  const param = keys.some((key) => key.includes('x')) ? 'size' : 'quality';
  return refuse(param, `must be one of ${keys.join(', ')}`);
}

function checkCount(n: number, { id, limits }: Model): void {
  const most = limits.images ?? STANDARD_IMAGES;
  if (n > most) refuse('n', `must be at most ${most} for ${id}`);
}

/** Where the price goes by size, a request that names none gets the usual one, or the first. */
function pricedSize({ per_image }: Price): string | undefined {
  const sizes = [...(per_image?.keys() ?? [])].filter((key) => key.includes('x'));
  return sizes.includes(STANDARD_SIZE) ? STANDARD_SIZE : sizes[0];
}

function sizeOf(text: string | undefined): ImageCall['size'] {
  if (text === undefined) return undefined;
  const [, width = 0, height = 0] = (/^([1-9]\d{0,4})x([1-9]\d{0,4})$/u.exec(text) ?? []).map(
    Number,
  );
  const isSane = [width, height].every((side) => side >= LEAST_SIDE && side <= LONGEST_SIDE);
  if (isSane) return { width, height };
  return refuse('size', `must be WIDTHxHEIGHT, each from ${LEAST_SIDE} to ${LONGEST_SIDE}`);
}

function travelling(
  body: ImageGenerationBody,
  { passthrough }: Model,
): { fields: Record<string, unknown>; ignored: string[] } {
  const others = Object.entries(body).filter(([name]) => !OWN.has(name));
  const sent = others.filter(([name]) => passthrough.has(name));
  const left = others.filter(([name]) => !passthrough.has(name));
  return {
    fields: Object.fromEntries(sent),
    ignored: [...new Set(left.map(([name]) => headerSafe(name)))],
  };
}

function refuse(param: string, complaint: string): never {
  throw new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}
