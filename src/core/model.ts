import type { Provider } from './provider.js';
import type { Resolution } from './task.js';

/** The caller of a request, known from its API key. */
export interface Caller {
  key_id: string;
  account_id: string;
  /** The only models that the key may use; undefined where it may use all. */
  models: readonly string[] | undefined;
  /** The account is suspended, so the request is refused. */
  suspended?: true;
}

/** Prices in nano-dollars (1e-9 USD); those of tokens are per million, so they stay integers. */
export interface Price {
  free: boolean;
  input_nano_per_million: bigint;
  output_nano_per_million: bigint;
  /** Classes of tokens with a price of their own; the others pay their input's or output's. */
  cached_input_nano_per_million?: bigint;
  cache_write_nano_per_million?: bigint;
  audio_input_nano_per_million?: bigint;
  audio_output_nano_per_million?: bigint;
  /** Only input costs: the file gives no price for output. */
  input_only?: boolean;
  /** Nano-dollars by `any`, by quality (`hd`), by size (`1024x1024`) or both (`hd/1024x1024`). */
  per_image?: ReadonlyMap<string, bigint>;
  /** Nano-dollars by resolution and sound: `720p/audio`, `4k/silent`. */
  per_video_second?: ReadonlyMap<string, bigint>;
  per_million_characters?: bigint;
  per_audio_minute?: bigint;
}

/**
 * The units of tokens in a price, each with the field that it is read into. A class follows the
 * input or output that it is part of.
 */
export const TOKEN_UNITS = {
  input_per_million: 'input_nano_per_million',
  cached_input_per_million: 'cached_input_nano_per_million',
  cache_write_per_million: 'cache_write_nano_per_million',
  audio_input_per_million: 'audio_input_nano_per_million',
  output_per_million: 'output_nano_per_million',
  audio_output_per_million: 'audio_output_nano_per_million',
} as const satisfies Record<string, keyof Price>;

export type TokenUnit = keyof typeof TOKEN_UNITS;

/** One entry of a model's `upstreams`. */
export interface Upstream {
  provider: Provider;
  model: string;
  weight: number | undefined;
  set: Readonly<Record<string, unknown>>;
  drop: readonly string[];
  rename: Readonly<Record<string, string>>;
  price: Price;
}

export interface ModelLimits {
  /** The most output tokens of one completion. Undefined where the file leaves it out. */
  max_tokens: number | undefined;
  /** The same for a client that names no limit. */
  default_max_tokens?: number;
  context: number | undefined;
  /** Prompt tokens that one image part is taken to cost; else its provider's manifest says it. */
  image_tokens: number | undefined;
  /** The most images that one request may ask for; 10 where the file leaves it out. */
  images?: number;
  /** The most pixels of an image whose price does not go by its size; 2^21 where left out. */
  image_pixels?: number;
  /** The most seconds that one audio file may play. */
  audio_seconds?: number;
  /** The bounds of specification 2.8 that the file narrows. */
  video?: VideoLimits;
}

export interface VideoLimits {
  duration_seconds?: number | undefined;
  sample_count?: number | undefined;
  resolutions?: readonly Resolution[] | undefined;
}

export interface Model {
  id: string;
  owner: string;
  /** Unix seconds. */
  created: number;
  capabilities: ReadonlySet<Capability>;
  upstreams: readonly Upstream[];
  limits: ModelLimits;
  passthrough: ReadonlySet<string>;
  /** Types of tools beside `function` that its clients may send on to its upstreams. */
  tool_types?: ReadonlySet<string>;
  price: Price;
}

export const CAPABILITIES = [
  'chat',
  'vision',
  'audio',
  'tools',
  'file',
  'image',
  'video',
  'embedding',
  'speech',
  'transcription',
  'moderation',
] as const;

export type Capability = (typeof CAPABILITIES)[number];
