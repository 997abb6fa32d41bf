import { hasMethods } from '../../lib/is-record.js';
import type { Encoded } from '../../core/provider.js';
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

/** How one wire format says image generation. Pure, like `ChatCodec`; throws `UpstreamError`. */
export interface ImageCodec {
  encode(call: ImageCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: ImageCall, upstream: Upstream): ImageReply;
}

/** Whether an adapter's export is an image codec. */
export function isImageCodec(value: unknown): value is ImageCodec {
  return hasMethods(value, ['encode', 'decode']);
}
