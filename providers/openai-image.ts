import { changedFields } from '../src/core/field-changes.js';
import { recordsIn } from '../src/lib/objects.js';
import {
  type ImageCall,
  type ImageCodec,
  type ImageReply,
  type ImageSize,
  type GeneratedImage,
  type ImageWords,
  type MadeImage,
  formParts,
  QUALITIES,
} from '../src/modalities/image/codec.js';
import type { Encoded } from '../src/core/provider.js';
import { broken, checked } from './openai/answer.js';
import type { UpstreamUsage } from '../src/core/usage.js';
import { UpstreamError } from '../src/core/upstream-error.js';
import type { Price, Upstream } from '../src/core/model.js';

/** Fields that only the gateway sets, as price or decoding depend on them. */
const FIXED = new Set(['model', 'prompt', 'n', 'stream', 'partial_images', 'response_format']);

/** The sizes of the GPT image models; others have none that is shaped alike. */
const SQUARE = '1024x1024';
const LYING = '1536x1024';
const STANDING = '1024x1536';

/** The wire flags that this codec reads. */
export const wire_flags = ['image_wire', 'free_sizes'] as const;

/**
 * The images wire of GPT image models, which answer only base64 and accept neither
 * `response_format` nor `style`. Flags of a manifest's `wire`: `image_wire: dall-e` for the older
 * fields, `free_sizes` if the upstream makes any size.
 */
export const image: ImageCodec = {
  encode,
  decode,
  answers_base64: ({ model, provider: { wire } }) =>
    wire.image_wire !== 'dall-e' && !model.startsWith('dall-e'),
};

function encode(call: ImageCall, upstream: Upstream): Encoded {
  const { wire } = upstream.provider;
  const isOlder = wire.image_wire === 'dall-e';
  const asked: Record<string, unknown> = {
    ...allowed(call.fields),
    ...(call.size && { size: sizeOf(call.size, wire) }),
    ...(isOlder ? olderFields(call) : newerFields(call, upstream.price)),
  };
  const ignored = upstream.drop.filter((name) => Object.hasOwn(asked, name));
  if (call.style && !isOlder) ignored.push('style');
  const body = {
    ...changedFields(asked, upstream, FIXED),
    model: upstream.model,
    prompt: call.prompt,
    n: call.n,
  };
  if (!call.images) return { path: '', body, ignored };
  const several = call.images.length > 1;
  const files = {
    [several ? 'image[]' : 'image']: call.images,
    ...(call.mask && { mask: call.mask }),
  };
  return { path: '', body, form: formParts({ ...body, ...files }, call), ignored };
}

function allowed(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !FIXED.has(name)));
}

/** Two qualities. The first one is the default. */
const OLDER_QUALITIES = {
  standard: 'standard',
  low: 'standard',
  medium: 'standard',
  hd: 'hd',
  high: 'hd',
  auto: undefined,
} as const;

function olderFields({ quality, style }: ImageCall): Record<string, unknown> {
  const word = quality && OLDER_QUALITIES[quality];
  return {
    ...(word && { quality: word }),
    ...(style && { style }),
    // Whatever the client wants to see: an address would have to be fetched again.
    response_format: 'b64_json',
  };
}

/** Where each image has a price, the upstream must not choose a dearer quality by itself. */
function newerFields(call: ImageCall, price: Price): Record<string, unknown> {
  const { any_size, quality = price.per_image && 'medium' } = call;
  const others = { ...ownFields(call, price), ...(any_size && { size: 'auto' }) };
  if (!quality) return others;
  const words = { standard: 'medium', hd: 'high' } as const;
  const word = quality === 'standard' || quality === 'hd' ? words[quality] : quality;
  return { ...others, quality: word };
}

/** The client's fields of this API. A high fidelity costs tokens of input, which need a price. */
function ownFields({ own_fields = {}, images }: ImageCall, price: Price): Record<string, unknown> {
  const { input_fidelity, ...others } = own_fields;
  const isPriced = price.free || price.input_nano_per_million > 0n;
  const isSent = images !== undefined && (isPriced || input_fidelity === 'low');
  return { ...others, ...(input_fidelity !== undefined && isSent && { input_fidelity }) };
}

function sizeOf({ width, height }: ImageSize, wire: Upstream['provider']['wire']): string {
  if (wire.free_sizes === true || wire.image_wire === 'dall-e') return `${width}x${height}`;
  if (width === height) return SQUARE;
  return width > height ? LYING : STANDING;
}

function decode(body: unknown, _: ImageCall, { provider }: Upstream): ImageReply {
  const answer = checked(body, provider);
  const images = recordsIn(answer.data).flatMap(imageIn);
  if (images.length === 0) throw broken('The upstream gave no image.');
  return {
    images,
    made: madeIn(answer),
    words: wordsIn(answer),
    usage: usageIn(answer.usage),
  };
}

const WORDS = ['size', 'quality', 'background', 'output_format'] as const;

function wordsIn(answer: Record<string, unknown>): ImageWords {
  return Object.fromEntries(
    WORDS.flatMap((name) => {
      const word = answer[name];
      return typeof word === 'string' && /^\w{1,32}$/u.test(word) ? [[name, word]] : [];
    }),
  );
}

/** The size and quality that GPT image models report. */
function madeIn({ size, quality }: Record<string, unknown>): MadeImage {
  const [, width, height] = (typeof size === 'string' && /^(\d+)x(\d+)$/u.exec(size)) || [];
  const word = QUALITIES.find((one) => one === quality && one !== 'auto');
  return {
    ...(width && height && { size: { width: Number(width), height: Number(height) } }),
    ...(word && { quality: word }),
  };
}

function imageIn({ b64_json, url, revised_prompt }: Record<string, unknown>): GeneratedImage[] {
  const revised = isText(revised_prompt) ? { revised_prompt } : {};
  if (isText(b64_json)) return [{ b64_json, ...revised }];
  if (!isText(url)) return [];
  if (!/^https?:\/\//iu.test(url)) {
    throw new UpstreamError('broken', 'The upstream says of an image where no image can be.');
  }
  return [{ url, ...revised }];
}

/** In the words of chat completions; some upstreams use them already. */
function usageIn(reported: unknown): UpstreamUsage | undefined {
  const [usage] = recordsIn([reported]);
  if (!usage) return undefined;
  const [input] = recordsIn([usage.input_tokens_details ?? usage.prompt_tokens_details]);
  const [output] = recordsIn([usage.output_tokens_details ?? usage.completion_tokens_details]);
  return {
    prompt_tokens: usage.input_tokens ?? usage.prompt_tokens,
    completion_tokens: usage.output_tokens ?? usage.completion_tokens,
    ...(input && { prompt_tokens_details: input }),
    ...(output && { completion_tokens_details: output }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
