import { hasMethods } from '../../lib/is-record.js';
import type { Encoded, FormPart } from '../../core/provider.js';
import { bytesOfBase64, mediaTypeOf } from '../../lib/data-url.js';
import type { Upstream } from '../../core/model.js';

export interface ImageSize {
  width: number;
  height: number;
}

/**
 * `standard` and `hd` are the contract's words, the others OpenAI's. `medium` is the same as
 * `standard` and `high` the same as `hd`; `auto` leaves the choice to the upstream.
 */
export const QUALITIES = ['standard', 'hd', 'low', 'medium', 'high', 'auto'] as const;

export type ImageQuality = (typeof QUALITIES)[number];

/** An image call in the gateway's own words: checked, defaults filled in (specification 2.6). */
export interface ImageCall {
  prompt: string;
  /** How many this one upstream call must make: never more than its operation's `max`. */
  n: number;
  size: ImageSize | undefined;
  /** The client asked for `size: auto`: the upstream chooses, and `size` is undefined. */
  any_size?: boolean;
  quality: ImageQuality | undefined;
  style: 'natural' | 'vivid' | undefined;
  response_format: 'url' | 'b64_json';
  /** What is to be edited, as data: URLs; absent where images are made from the prompt alone. */
  images?: readonly string[];
  /** An image, as a data: URL, whose transparent parts show where to edit. */
  mask?: string;
  /** Passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
}

/** One image as the upstream gave it: its bytes, or where they are. */
export interface GeneratedImage {
  b64_json?: string;
  url?: string;
  revised_prompt?: string;
}

/** What the upstream says it made, where a call has left that to it. */
export interface MadeImage {
  size?: ImageSize;
  quality?: ImageQuality;
}

export interface ImageReply {
  /** Those that were made; fewer than asked where some were refused. */
  images: GeneratedImage[];
  /** Of each of them. */
  made?: MadeImage;
  /** Token usage as the upstream says it, already in `prompt_tokens` and `completion_tokens`. */
  usage: unknown;
}

/** How an upstream is asked again until images are made that it only began at the first call. */
export interface ImagePolling {
  /** The address to ask at, from the answer to the call. Throws `UpstreamError` without one. */
  address(submitted: unknown, call: ImageCall, upstream: Upstream): string;
  /** Whether an answer there says that the images are still being made. */
  isPending(body: unknown, call: ImageCall, upstream: Upstream): boolean;
}

/** How one wire format says image generation. Pure, like `ChatCodec`; throws `UpstreamError`. */
export interface ImageCodec {
  encode(call: ImageCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: ImageCall, upstream: Upstream): ImageReply;
  /** Where the answer to the call is not the images: `decode` then reads the last poll's. */
  poll?: ImagePolling;
}

/** Whether an adapter's export is an image codec. */
export function isImageCodec(value: unknown): value is ImageCodec {
  return hasMethods(value, ['encode', 'decode']);
}

/**
 * The body as a form: a part for each field and for each entry of a list. The images of the call
 * are its files.
 */
export function formParts(
  body: Readonly<Record<string, unknown>>,
  { images = [], mask }: Pick<ImageCall, 'images' | 'mask'>,
): FormPart[] {
  const isFile = (text: string): boolean => text === mask || images.includes(text);
  const partOf = (name: string, value: unknown): FormPart => {
    if (typeof value !== 'string') return { name, value: JSON.stringify(value) };
    if (!isFile(value)) return { name, value };
    const type = mediaTypeOf(value) || 'image/png';
    const filename = `${name.replace(/\W/gu, '')}.${type.split('/')[1] ?? 'png'}`;
    return { name, file: bytesOfBase64(value), filename, type };
  };
  return Object.entries(body).flatMap(([name, value]) =>
    [value].flat().map((one: unknown) => partOf(name, one)),
  );
}
