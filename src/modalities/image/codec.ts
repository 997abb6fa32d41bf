import { hasMethods } from '../../lib/objects.js';
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

/** An image call in the gateway's own form: validated, with defaults (specification 2.6). */
export interface ImageCall {
  prompt: string;
  /** The number of images of this upstream call, at most the `max` of its operation. */
  n: number;
  size: ImageSize | undefined;
  /** The client asked for `size: auto`: the upstream chooses, and `size` is undefined. */
  any_size?: boolean;
  quality: ImageQuality | undefined;
  style: 'natural' | 'vivid' | undefined;
  response_format: 'url' | 'b64_json';
  /** The images to edit, as data: URLs; absent if images are made from the prompt alone. */
  images?: readonly string[];
  /** An image, as a data: URL, whose transparent parts show where to edit. */
  mask?: string;
  /** Passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
  /**
   * Fields of OpenAI's own API, which only a wire of the same API has. Those that a codec does not
   * send are named as ignored.
   */
  own_fields?: OwnImageFields;
}

/** The fields of OpenAI's API that the service's contract does not have. */
export interface OwnImageFields {
  background?: string;
  output_format?: string;
  output_compression?: number;
  moderation?: string;
  /** `high` reads the images to edit in more tokens. */
  input_fidelity?: string;
}

/** The names of `OwnImageFields`. */
export const OWN_IMAGE_FIELDS = [
  'background',
  'output_format',
  'output_compression',
  'moderation',
  'input_fidelity',
] as const satisfies readonly (keyof OwnImageFields)[];

/** One image of an upstream: its bytes, or their URL. */
export interface GeneratedImage {
  b64_json?: string;
  url?: string;
  revised_prompt?: string;
}

/** The size and quality that the upstream chose, if the call left them to it. */
export interface MadeImage {
  size?: ImageSize;
  quality?: ImageQuality;
}

/** What an answer says of all its images, in OpenAI's words. */
export type ImageWords = Partial<
  Readonly<Record<'size' | 'quality' | 'background' | 'output_format', string>>
>;

export interface ImageReply {
  /** The images that were made: fewer than `n` if the upstream refused some. */
  images: GeneratedImage[];
  /** Applies to each of the images. */
  made?: MadeImage;
  words?: ImageWords;
  /**
   * Token usage as the upstream reports it, already an `UpstreamUsage`. Output that it does not
   * split is that of the images.
   */
  usage: unknown;
}

/** How to poll an upstream that answers the call before the images are made. */
export interface ImagePolling {
  /** The address to poll, from the answer to the call. Throws `UpstreamError` if it has none. */
  address(submitted: unknown, call: ImageCall, upstream: Upstream): string;
  /** Whether the answer of a poll says that the images are still being made. */
  isPending(body: unknown, call: ImageCall, upstream: Upstream): boolean;
}

/** Translates image calls to one wire format. Pure, like `ChatCodec`; throws `UpstreamError`. */
export interface ImageCodec {
  encode(call: ImageCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: ImageCall, upstream: Upstream): ImageReply;
  /** Whether the upstream's own API answers in base64 unless it is asked for URLs. */
  answers_base64?(upstream: Upstream): boolean;
  /**
   * Set if the answer to the call has no images. `decode` then reads the answer of the last poll.
   */
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
