import type { Rates } from './limits.js';
import type { Provider } from './provider.js';
import type { Resolution } from './task.js';

/** The account and the API key of a request. */
export interface Caller {
  key_id: string;
  account_id: string;
  /** The only models that the key may use; undefined if it may use all. */
  models: readonly string[] | undefined;
  /** The rates of the key's own terms and of its account's; undefined where there are none. */
  key_rates?: Rates;
  account_rates?: Rates;
  /** Set if the account is suspended, so that the request is refused. */
  suspended?: true;
  /** Set if the account had nothing available when the key was read. */
  empty?: true;
}

/** Prices of tokens in nano-dollars (1e-9 USD) per million, so that they stay integers. */
export interface TokenPrices {
  input_nano_per_million: bigint;
  output_nano_per_million: bigint;
  /** Prices of token classes. A class without one has the price of input or output. */
  cached_input_nano_per_million?: bigint;
  cache_write_nano_per_million?: bigint;
  /** Without it, such writes have the price of the others. */
  cache_write_1h_nano_per_million?: bigint;
  audio_input_nano_per_million?: bigint;
  image_input_nano_per_million?: bigint;
  audio_output_nano_per_million?: bigint;
  image_output_nano_per_million?: bigint;
}

/**
 * The prices of all tokens of a call whose prompt has more than `above_tokens`. A price that is not
 * given stays as it is for shorter prompts.
 */
export interface LongPromptPrices extends Partial<TokenPrices> {
  above_tokens: number;
}

/** The prices of calls that the upstream served in one service tier. */
export interface TierPrices extends Partial<TokenPrices> {
  long_prompt?: LongPromptPrices;
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type Weekday = (typeof WEEKDAYS)[number];

export const DAY_MINUTES = 1_440;

/** The prices of what is not counted in tokens. */
export interface UnitPrices {
  /** Nano-dollars by `any`, by quality (`hd`), by size (`1024x1024`) or both (`hd/1024x1024`). */
  per_image?: ReadonlyMap<string, bigint>;
  /** Nano-dollars by resolution and sound: `720p/audio`, `4k/silent`. */
  per_video_second?: ReadonlyMap<string, bigint>;
  per_million_characters?: bigint;
  per_audio_minute?: bigint;
}

/**
 * The prices of calls that begin within these times. Images and videos have the same kinds as
 * outside of them.
 */
export interface OffPeakPrices extends Partial<TokenPrices>, UnitPrices {
  /** The days on which the times begin; absent for every day. */
  days?: readonly Weekday[];
  /**
   * Minutes after midnight in `zone`. If `from` is the later one, the times span midnight. A whole
   * day is from 0 to `DAY_MINUTES`.
   */
  from_minute: number;
  to_minute: number;
  zone: string;
}

/** Prices in nano-dollars. `cardOf` of `billing/rate-card.ts` lays the parts over each other. */
export interface Price extends TokenPrices, UnitPrices {
  free: boolean;
  long_prompt?: LongPromptPrices;
  /** By the name of the tier. A price that is not given stays as it is. */
  tiers?: ReadonlyMap<string, TierPrices>;
  /** The first that holds when a call begins has its prices. */
  off_peak?: readonly OffPeakPrices[];
  /** Nano-dollars for one call of a tool that the upstream runs, by the tool's name. */
  per_tool_call?: ReadonlyMap<string, bigint>;
  /** Nano-dollars for each call to the upstream, whatever it uses. */
  per_request?: bigint;
  /** Whether the file gives only a price for input, so that output is free. */
  input_only?: boolean;
  /** What the upstream takes, where that is not what the account pays. It has no such field. */
  cost?: Price;
}

/** The prices by which the upstream takes its money. */
export function costCard(price: Price): Price {
  return price.cost ?? price;
}

/**
 * The token units of a price in gateway.yaml, each with its field of `Price`. The classes follow
 * the input or the output that they are part of.
 */
export const TOKEN_UNITS = {
  input_per_million: 'input_nano_per_million',
  cached_input_per_million: 'cached_input_nano_per_million',
  cache_write_per_million: 'cache_write_nano_per_million',
  cache_write_1h_per_million: 'cache_write_1h_nano_per_million',
  audio_input_per_million: 'audio_input_nano_per_million',
  image_input_per_million: 'image_input_nano_per_million',
  output_per_million: 'output_nano_per_million',
  audio_output_per_million: 'audio_output_nano_per_million',
  image_output_per_million: 'image_output_nano_per_million',
} as const satisfies Record<string, keyof TokenPrices>;

export type TokenUnit = keyof typeof TOKEN_UNITS;

/** The same as pairs, in the order in which prices are shown. */
export const TOKEN_UNIT_FIELDS = Object.entries(TOKEN_UNITS) as [TokenUnit, keyof TokenPrices][];

/** One entry of a model's `upstreams`. */
export interface Upstream {
  provider: Provider;
  model: string;
  weight: number | undefined;
  set: Readonly<Record<string, unknown>>;
  drop: readonly string[];
  rename: Readonly<Record<string, string>>;
  /** The values of fields that a client leaves out. */
  default?: FieldsByWork;
  price: Price;
}

/** Fields of requests and their values, by the capability of the request. */
export type FieldsByWork = Readonly<Partial<Record<string, Readonly<Record<string, unknown>>>>>;

/** The `limits` of a model. Counts of tokens, unless they say otherwise. */
export interface ModelLimits {
  /** The maximum of output tokens of one completion; undefined if the file has none. */
  max_tokens: number | undefined;
  /** The maximum for a client that names none. */
  default_max_tokens?: number;
  context: number | undefined;
  /** The estimated prompt tokens of an image part. Without it the manifest's estimate is used. */
  image_tokens: number | undefined;
  /** The maximum of calls of the upstream's own tools in one answer; 10 if the file has none. */
  tool_calls?: number;
  /** The maximum of images that one request may ask for; 10 if the file has none. */
  images?: number;
  /** The maximum of pixels of an image whose price does not depend on its size; 2^21 by default. */
  image_pixels?: number;
  /** The maximum duration of one audio file. */
  audio_seconds?: number;
  /** The bounds of specification 2.8 that the file narrows. */
  video?: VideoLimits;
}

/** The longest video, the most videos of one request, and the resolutions that are served. */
export interface VideoLimits {
  duration_seconds?: number | undefined;
  sample_count?: number | undefined;
  resolutions?: readonly Resolution[] | undefined;
}

/** An entry under `models`. Calls go to its `upstreams`, best first. */
export interface Model {
  id: string;
  /** The other name by which a client asks for it here; records and charges have its ID. */
  alias?: string;
  /** The alias is one of `as`, which stands in the lists of some formats alone. */
  is_as_name?: true;
  description?: string;
  owner: string;
  /** Unix seconds. */
  created: number;
  capabilities: ReadonlySet<Capability>;
  upstreams: readonly Upstream[];
  /** The IDs of the models that serve a call after all its upstreams have failed. */
  fallback?: readonly string[];
  limits: ModelLimits;
  /** Marks of what may be cached are added where that pays; absent if none are. */
  cache?: 'auto';
  passthrough: ReadonlySet<string>;
  /** The types of tools, beside `function`, that clients may send to its upstreams. */
  tool_types?: ReadonlySet<string>;
  price: Price;
  /** The rates of all its clients together. */
  rates?: Rates;
}

/** The name by which clients know a model: the alias by which they ask for it, else its ID. */
export function publicName({ id, alias }: Pick<Model, 'id' | 'alias'>): string {
  return alias ?? id;
}

/**
 * Whether a key may use a model, as the client calls it. A list that has the model allows its
 * aliases too; one that has an alias allows this name alone. Undefined allows every model.
 */
export function mayUseModel(
  allowed: readonly string[] | undefined,
  model: Pick<Model, 'id' | 'alias'>,
): boolean {
  return !allowed || allowed.includes(model.id) || allowed.includes(publicName(model));
}

/** Whether no call of the model costs anything. */
export function isFree({ upstreams }: Pick<Model, 'upstreams'>): boolean {
  return upstreams.every(({ price }) => price.free);
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
