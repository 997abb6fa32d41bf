// Made by `npm run types` from schemas/gateway.schema.json.

/** a duration such as 500ms, 30s, 2m or 1h */
export type Duration = string;
/** a size such as 64kb, 20mb or 1gb */
export type Size = string;
/** a whole number of tokens, 1 or more */
export type Tokens = number;
/** a whole number of times a minute, 1 or more */
export type Attempts = number;
/** Items: a field's name */
export type Fields = string[];
/** an address such as ada@example.org */
export type Email = string;
/** a part of an address: letters, digits, dots, dashes and underscores */
export type AddressPart = string;
/** a field's name */
export type Field = string;
/**
 * free, list, or prices such as { input_per_million: 0.15, output_per_million: 0.60 }
 */
export type PriceEntry =
  | string
  | {
      input_per_million?: Dollars;
      cached_input_per_million?: Dollars;
      cache_write_per_million?: Dollars;
      audio_input_per_million?: Dollars;
      output_per_million?: Dollars;
      audio_output_per_million?: Dollars;
      /** a number of dollars, or one for each quality or size */
      per_image?:
        | number
        | {
            standard?: ImageRate;
            hd?: ImageRate;
            low?: ImageRate;
            medium?: ImageRate;
            high?: ImageRate;
            [k: string]: Dollars | ImageRate | undefined;
          };
      per_million_characters?: Dollars;
      per_audio_minute?: Dollars;
      /** a number of dollars, or one for each resolution */
      per_video_second?:
        | number
        | {
            '720p'?: VideoRate;
            '1080p'?: VideoRate;
            '4k'?: VideoRate;
          };
    };
/**
 * a number of dollars, 0 or more
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[1-9][0-9]*x[1-9][0-9]*$".
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[1-9][0-9]*x[1-9][0-9]*$".
 */
export type Dollars = number;
/** a number of dollars, or one for each size */
export type ImageRate =
  | number
  | {
      [k: string]: Dollars;
    };
/** a number of dollars, or { silent, audio } */
export type VideoRate =
  | number
  | {
      silent?: Dollars;
      audio?: Dollars;
    };
/** off, or a block with at and stages */
export type EndpointBlock =
  | string
  | {
      /** a method and a path */
      at: string;
      /**
       *
       * Items: a stage such as auth or validate: chat-completion
       */
      stages: (
        | string
        | {
            [k: string]: unknown;
          }
      )[];
    };

/** gateway.yaml, the operator's one file. */
export interface GatewayFile {
  /** an address such as 127.0.0.1:8080 */
  listen?: string | number;
  /** a URL such as https://ai.example.com */
  public_url?: string;
  /** sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE */
  store?: string;
  /** a folder on local disk for charges that wait for the store */
  journal?: string;
  drain?: Duration;
  keep_alive?: Duration;
  limits?: LimitsBlock;
  log?: {
    level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  };
  first_start?: FirstStart;
  /** true or false */
  dashboard?: boolean;
  sign_in?: SignInBlock;
  /**
   *
   * Items: a network such as 10.0.0.0/8
   */
  trusted_proxies?: string[];
  /**
   *
   * Items: an origin such as https://app.example.com, or '*' for all
   */
  cors?: string[];
  owners: {
    [k: string]: OwnerEntry;
  };
  providers: {
    [k: string]: ProviderEntry;
  };
  models: {
    [k: string]: ModelEntry;
  };
  endpoints?: {
    [k: string]: EndpointBlock;
  };
}
export interface LimitsBlock {
  body?: Size;
  /** a whole number of JSON values, 100 or more */
  body_values?: number;
  body_stall?: Duration;
  in_flight_bytes?: Size;
  answer?: Size;
  stream?: Size;
  event?: Size;
  drain?: Duration;
  drain_bytes?: Size;
  linger?: Duration;
  linger_bytes?: Size;
  client?: Duration;
  task?: Duration;
  idempotency?: Duration;
  idempotency_total?: Size;
  journal_bytes?: Size;
  image_bytes?: Size;
  images_total?: Size;
  image_ttl?: Duration;
  /** a whole number of keys, 1 to 100000 */
  keys?: number;
  /** a whole number of connections, 1 to 65535 */
  connections?: number;
  idle_connection?: Duration;
  fetch?: Duration;
  fetch_bytes?: Size;
  /** a whole number of URLs, 0 to 1000 */
  fetch_urls?: number;
  default_max_tokens?: Tokens;
  failed_keys?: Attempts;
  sign_ins?: Attempts;
}
export interface FirstStart {
  /** a name */
  account: string;
  /** an amount such as 10.00 */
  credit?: string | number;
}
export interface SignInBlock {
  providers?: {
    [k: string]: IdentityProviderEntry;
  };
  allow?: string[];
  operators?: Email[];
  /** an amount such as 1.00 */
  credit?: string | number;
  session?: SessionBlock;
}
export interface IdentityProviderEntry {
  kind?: 'openid' | 'github';
  /** a name */
  name?: string;
  /** a URL */
  issuer?: string;
  /** text */
  client_id: string;
  /** text */
  client_secret?: string;
  scopes?: Fields;
  /** true or false */
  trust_email?: boolean;
  /** a URL */
  base_url?: string;
  /** a URL */
  api_url?: string;
}
export interface SessionBlock {
  idle?: Duration;
  lifetime?: Duration;
}
export interface OwnerEntry {
  /** a name */
  name: string;
}
export interface ProviderEntry {
  /** a manifest's name or ./path.yaml */
  uses?: string;
  /** text */
  api_key?: string;
  /** a key file's text, such as ${file:key.json} */
  service_account?: string;
  /** a URL */
  token_url?: string;
  /** text */
  access_key_id?: string;
  /** text */
  secret_access_key?: string;
  /** text */
  session_token?: string;
  region?: AddressPart;
  resource?: AddressPart;
  project?: AddressPart;
  api_version?: AddressPart;
  /** a URL */
  base_url?: string;
  headers?: {
    /** text */
    [k: string]: string;
  };
  timeout?: TimeoutBlock;
  poll_interval?: Duration;
  settings?: {
    [k: string]: unknown;
  };
  on_abort?: 'abort' | 'drain';
}
export interface TimeoutBlock {
  connect?: Duration;
  first_byte?: Duration;
  idle?: Duration;
  total?: Duration;
}
export interface ModelEntry {
  /** an owner's name */
  owner: string;
  capabilities: (
    | 'chat'
    | 'vision'
    | 'audio'
    | 'tools'
    | 'file'
    | 'image'
    | 'video'
    | 'embedding'
    | 'speech'
    | 'transcription'
    | 'moderation'
  )[];
  upstreams: UpstreamEntry[];
  limits?: ModelLimitsBlock;
  passthrough?: Fields;
  /**
   *
   * Items: a type of tool such as browser_search
   */
  tool_types?: string[];
  price?: PriceEntry;
  /** a date such as 2024-07-18, or Unix seconds */
  created?: string | number;
}
export interface UpstreamEntry {
  /** a provider's name */
  provider: string;
  /** the provider's own model ID */
  model?: string;
  /** a whole number, 1 or more */
  weight?: number;
  set?: {
    [k: string]: unknown;
  };
  drop?: Fields;
  rename?: {
    [k: string]: Field;
  };
  price?: PriceEntry;
}
export interface ModelLimitsBlock {
  max_tokens?: Tokens;
  default_max_tokens?: Tokens;
  context?: Tokens;
  image_tokens?: Tokens;
  /** a whole number of images, 1 to 64 */
  images?: number;
  /** a whole number of pixels, 256 to 67108864 */
  image_pixels?: number;
  /** a whole number of seconds, 1 to 86400 */
  audio_seconds?: number;
  /** a whole number of seconds, 1 to 8 */
  duration_seconds?: number;
  /** a whole number of videos, 1 to 4 */
  sample_count?: number;
  resolutions?: ('720p' | '1080p' | '4k')[];
}
