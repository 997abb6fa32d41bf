// Made by `npm run types` from schemas/gateway.schema.json.

/**
 * A list of names of fields in a request.
 *
 * Items: A field's name in a request.
 */
export type Fields = string[];
/** An email address. */
export type Email = string;
/** One kind of work that a model does. */
export type Capability =
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
  | 'moderation';
/** A field's name in a request. */
export type Field = string;
/** `free`, `list`, or dollars by unit. */
export type PriceEntry =
  | string
  | {
      /** Dollars for a million prompt tokens. Without it, tokens have no price. */
      input_per_million?: number;
      /**
       * Dollars for a million prompt tokens that the upstream read from its cache. Without it, the
       * price of input.
       */
      cached_input_per_million?: number;
      /**
       * Dollars for a million prompt tokens that the upstream wrote into its cache. Without it, the
       * price of input.
       */
      cache_write_per_million?: number;
      /** Dollars for a million prompt tokens of audio. Without it, the price of input. */
      audio_input_per_million?: number;
      /**
       * Dollars for a million output tokens, reasoning included. Without it, tokens of output have
       * no price.
       */
      output_per_million?: number;
      /** Dollars for a million output tokens of audio. Without it, the price of output. */
      audio_output_per_million?: number;
      long_prompt?: LongPrompt;
      /**
       * Dollars for one image: one price for all, or by quality, by size, or by both. Without it,
       * images have no price of their own.
       */
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
      /** Dollars for a million characters that are spoken. Without it, speech has no price. */
      per_million_characters?: number;
      /**
       * Dollars for a minute of audio that is transcribed, charged to the millisecond. Without it,
       * minutes have no price.
       */
      per_audio_minute?: number;
      /**
       * Dollars for a second of video: one price for all, or by resolution, and by sound. Without
       * it, videos have no price.
       */
      per_video_second?:
        | number
        | {
            '720p'?: VideoRate;
            '1080p'?: VideoRate;
            '4k'?: VideoRate;
          };
    };
/** Dollars for one image, or for one of each size. */
export type ImageRate =
  | number
  | {
      [k: string]: Dollars;
    };
/** An amount in dollars; digits after the point are read exactly, to a billionth. */
export type Dollars = number;
/** Dollars for a second of video, or for one without and one with sound. */
export type VideoRate =
  | number
  | {
      /** Dollars for a second of video without sound. Without it, silent videos have no price. */
      silent?: number;
      /** Dollars for a second of video with sound. Without it, videos with sound have no price. */
      audio?: number;
    };
/**
 * An address and the stages of its requests, or stages to add to shipped ones; `off` takes a
 * shipped one away.
 */
export type EndpointBlock =
  | string
  | {
      /**
       * The method and the path of the endpoint. Names in braces are read from the path. Without
       * it, the shipped endpoint of this name is changed.
       */
      at?: string;
      stages?: Stages;
      before?: StageInsertions;
      after?: StageInsertions;
    };
/**
 * A step of a request: the name of a stage, with its option behind a colon; or your own, as a path
 * or a package.
 */
export type Stage =
  | string
  | {
      mask?: MaskOption;
      deny?: DenyOption;
      [k: string]: unknown;
    };
/** Replaces personal data in every text of a request, before it is routed and held. */
export type MaskOption = {
  patterns?: TextPatterns;
  also?: OwnPatterns;
  /**
   * The text in place of each match, where {kind} is its kind. Without it, the kind in brackets.
   */
  with?: string;
} | null;
/**
 * Kinds of personal data.
 *
 * Items: A kind of personal data.
 */
export type TextPatterns = ('email' | 'iban' | 'card' | 'ip' | 'phone')[];
/**
 * Regular expressions as RE2 reads them.
 *
 * Items: A regular expression as RE2 reads it.
 */
export type OwnPatterns = string[];
/**
 * Refuses a request with 400 where one of its texts has such words, before it is routed and held.
 */
export type DenyOption = {
  /**
   * Words and phrases, found as whole words in any case. Without it, none is denied.
   *
   * Items: A word or a phrase with a letter or a digit in it.
   */
  words?: string[];
  patterns?: TextPatterns;
  also?: OwnPatterns;
  /** The message of the error. Without it, the error names the kind of text that is refused. */
  message?: string;
} | null;
/** Stages in order. */
export type Stages = Stage[];

/** gateway.yaml, the operator's one file. */
export interface GatewayFile {
  /**
   * Patterns of further files below this folder, whose owners, providers, models and endpoints are
   * added to those here. Without it, this file is all.
   *
   * Items: A pattern of files, where * stands for any text of a name.
   */
  include?: string[];
  /**
   * The address and port that the gateway listens on. Behind a proxy it stays on this machine.
   * Default: 127.0.0.1:8080.
   */
  listen?: string | number;
  /**
   * The address under which clients and browsers reach the gateway. Links in answers, sign-in and
   * the dashboard begin with it. Without it, http:// and the address of `listen`.
   */
  public_url?: string;
  /**
   * The database that keeps accounts, keys, holds and the ledger: a SQLite file, whose path is
   * relative to this file, or PostgreSQL. Default: sqlite:data/tollgate.db.
   */
  store?: string;
  /**
   * A folder on local disk for charges that the store cannot take now, so that none is lost while
   * it is away. Without it, the folder `journal` beside the SQLite file, else data/journal.
   */
  journal?: string;
  /** How long running answers may take to end once the gateway is told to stop. Default: 30s. */
  drain?: string;
  /**
   * How long the gateway still takes new work once it is told to stop, while /readyz is 503: longer
   * than the load balancer in front of several gateways takes to notice. `drain` begins after it.
   * Default: 0s.
   */
  drain_delay?: string;
  /**
   * How often a silent stream gets a comment, so that no proxy on the way closes it. Default: 15s.
   */
  keep_alive?: string;
  limits?: LimitsBlock;
  requests?: RequestsBlock;
  log?: LogBlock;
  headers?: HeadersBlock;
  /**
   * The address at which Prometheus may ask for metrics, on a listener of its own. Without it,
   * there are none.
   */
  metrics?: string | number;
  traces?: TracesBlock;
  alerts?: AlertsBlock;
  first_start?: FirstStart;
  /** Whether the gateway serves the dashboard and its API beside the endpoints. Default: true. */
  dashboard?: boolean;
  sign_in?: SignInBlock;
  /**
   * Networks of proxies whose `X-Forwarded-For` is believed, so that rate limits count the real
   * client. Without it, no proxy is believed.
   *
   * Items: A network in CIDR notation, or one address.
   */
  trusted_proxies?: string[];
  /**
   * Origins whose pages may call the endpoints from a browser; never the dashboard, never with
   * cookies. Without it, no other origin's pages may.
   *
   * Items: An origin: scheme, host and port; or '*' for all.
   */
  cors?: string[];
  /**
   * The organisations whose models these are: `owned_by` in the list of models. A model names one
   * of them as its `owner`. Without it, included files have them.
   */
  owners: {
    [k: string]: OwnerEntry;
  };
  /**
   * Accounts at upstreams: which manifest describes each, and its credentials. An upstream of a
   * model names one of them as its `provider`. Without it, included files have them.
   */
  providers: {
    [k: string]: ProviderEntry;
  };
  /**
   * The models that clients may ask for, by their public IDs. Without it, included files have them.
   */
  models: {
    [k: string]: ModelEntry;
  };
  /**
   * Addresses and the stages that a request walks through there, merged by name over the shipped
   * ones. Without it, the shipped ones; `tollgate explain MODEL` shows them.
   */
  endpoints?: {
    [k: string]: EndpointBlock;
  };
}
/** Bounds on sizes, times and counts. */
export interface LimitsBlock {
  /** The largest body of a request; a larger one is 413. Default: 20mb. */
  body?: string;
  /**
   * The most JSON values in a request over 64 kB, since many small values cost far more memory than
   * their bytes. Default: 100000.
   */
  body_values?: number;
  /**
   * How long a request over 64 kB may bring less than 64 kB before it is refused as too slow.
   * Default: 10s.
   */
  body_stall?: string;
  /**
   * The memory that requests and answers in flight may take together, each byte counted three
   * times. One account may have half of it; beyond that is 503. Default: 256mb.
   */
  in_flight_bytes?: string;
  /** The largest answer of an upstream that does not stream. Default: 64mb. */
  answer?: string;
  /** The most bytes of one stream from an upstream. Default: 256mb. */
  stream?: string;
  /**
   * The largest single event in a stream from an upstream, and the most text of a stream that waits
   * while the pieces of its tool calls are put in order. Default: 8mb.
   */
  event?: string;
  /**
   * The most events in one stream from an upstream; one more is a fault of the upstream. Default:
   * 1000000.
   */
  stream_events?: number;
  /**
   * The most tool calls in one answer of an upstream; one more is a fault of the upstream, such as
   * a model that repeats itself. Default: 1000.
   */
  answer_calls?: number;
  /**
   * The most parts of reasoning with a state of their own in one answer of an upstream; one more is
   * a fault of the upstream. Default: 10000.
   */
  answer_parts?: number;
  /**
   * How long the gateway reads on an answer that its client has left, where the upstream bills it
   * anyway, to learn the true usage. Default: 30s.
   */
  drain?: string;
  /**
   * How many bytes the gateway reads on of an answer that its client has left, where the upstream
   * bills it anyway. Default: 16mb.
   */
  drain_bytes?: string;
  /**
   * How long the gateway reads on a stream that its client has left, where the upstream stops
   * billing when it is aborted, to learn the usage so far. Default: 2s.
   */
  linger?: string;
  /**
   * How many bytes the gateway reads on of a stream that its client has left, where the upstream
   * stops billing when it is aborted. Default: 256kb.
   */
  linger_bytes?: string;
  /**
   * How long a client may take none of the bytes that wait for it before its connection is closed.
   * Default: 60s.
   */
  client?: string;
  /**
   * How long a video task may take, and how long it is kept after that. The hold of a task that
   * takes longer ends then. Default: 24h.
   */
  task?: string;
  /**
   * How long an answer is kept for a client that repeats its request under the same
   * `Idempotency-Key`. Default: 24h.
   */
  idempotency?: string;
  /**
   * How much all answers kept for repeated requests may weigh together; beyond that the oldest of
   * the account with the most go first. Default: 1gb.
   */
  idempotency_total?: string;
  /**
   * How much the charges that wait in the journal of one process may weigh together. Default: 64mb.
   */
  journal_bytes?: string;
  /** The largest image that the gateway keeps or fetches for a client. Default: 32mb. */
  image_bytes?: string;
  /**
   * How much all kept images may weigh together; beyond that the oldest of the account with the
   * most go first. Default: 1gb.
   */
  images_total?: string;
  /** How long an image is kept and served under its own address. Default: 1h. */
  image_ttl?: string;
  /** The most active API keys that an account may make for itself. Default: 100. */
  keys?: number;
  /**
   * The most connections, and so calls at once, to one upstream. Further calls go to the model's
   * next upstream, else they are 503. A stream takes about 0.2 MB of memory. Default: 2048.
   */
  connections?: number;
  /**
   * How long an unused connection to an upstream is kept for the next call. Over plain HTTP it is
   * 4s at most, and what a server says of itself holds instead. Default: 30s.
   */
  idle_connection?: string;
  /**
   * How long fetching the image and file URLs of a chat request may take, where the upstream
   * follows no URLs. Default: 15s.
   */
  fetch?: string;
  /**
   * How much the fetched images and files of one chat request may weigh together. Default: 20mb.
   */
  fetch_bytes?: string;
  /** The most URLs that are fetched for one chat request; 0 fetches none. Default: 20. */
  fetch_urls?: number;
  /**
   * How long the PDFs and recordings of one request are read for their pages and seconds, all
   * together. What is not read by then is held for by its bytes. Default: 5s.
   */
  media?: string;
  /**
   * The memory of a process that reads them; the gateway has at most two of these, and none while
   * no media comes. A file that takes more is held for by its bytes. Default: 256mb.
   */
  media_memory?: string;
  /**
   * The output tokens for a client that names no limit, of models that have no `default_max_tokens`
   * of their own. It bounds what is held. Without it, the `max_tokens` of the model, else 4096
   * where tokens cost.
   */
  default_max_tokens?: number;
  /** The wrong API keys a minute that one address may send before it gets 429. Default: 300. */
  failed_keys?: number;
  /** The sign-ins a minute that one address may try before it gets 429. Default: 30. */
  sign_ins?: number;
}
/** How long the records of requests are kept, and how many may wait for the store. */
export interface RequestsBlock {
  /** How long the record of a request is kept. Default: 30d. */
  keep?: string;
  /**
   * How long the totals of each hour and day are kept, from which pages show usage. Default: 400d.
   */
  keep_totals?: string;
  /**
   * How many records may wait for the store where no charge takes them along. Those beyond are
   * dropped, and counted. Default: 10000.
   */
  queue?: number;
}
/** The log: JSON lines on standard error. Without it, its keys have their defaults. */
export interface LogBlock {
  /** The least severe lines that are logged. Default: info. */
  level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /**
   * How a line is written: text for a person, JSON for a program, or auto, which is text on a
   * terminal only. Default: auto.
   */
  format?: 'auto' | 'text' | 'json';
}
/** Headers of paid answers that tell how they came about. */
export interface HeadersBlock {
  /**
   * Whether `tollgate-upstream` names the provider of an answer, which tells customers of your
   * upstreams. Default: false.
   */
  upstream?: boolean;
  /** Whether `tollgate-cost` tells the dollars charged for a whole answer. Default: true. */
  cost?: boolean;
  /** Whether `tollgate-attempts` counts the upstreams that were asked. Default: false. */
  attempts?: boolean;
}
/** OpenTelemetry spans of requests, which hold none of their content. */
export interface TracesBlock {
  /** The address of the collector, which takes OTLP over HTTP. */
  otlp: string;
  /** Headers for the collector, such as its key. Without it, there are none. */
  headers?: {
    /** The value of a header. */
    [k: string]: string;
  };
  /** The share of requests that leave spans, from 0 to 1. Default: 1. */
  sample?: number;
}
/** A webhook that is told what needs attention. */
export interface AlertsBlock {
  /** The address that alerts are posted to. */
  webhook: string;
  /** The secret by which alerts are signed, in the header `tollgate-signature`. */
  secret: string;
  /** The dollars below which the balance of an account is low. Without it, no balance is low. */
  low_balance?: string | number;
}
/**
 * An account with a key, made at a start while there is none, so that the first call works. Without
 * it, none is made.
 */
export interface FirstStart {
  /** The name of the account that is made. */
  account: string;
  /** The dollars that the account begins with. Default: 0. */
  credit?: string | number;
}
/** The people who may sign in to the dashboard. */
export interface SignInBlock {
  /**
   * Identity providers by name: issuers of OpenID Connect, and GitHub. Register
   * PUBLIC_URL/sign-in/NAME/callback there. Without it, only links let people in.
   */
  providers?: {
    [k: string]: IdentityProviderEntry;
  };
  /**
   * The people who may sign in: addresses, domains, or '*' for everybody. Without it, no provider
   * can be declared.
   */
  allow?: string[];
  /**
   * The addresses of the people who also see accounts, credit and the configuration. Default: none.
   */
  operators?: Email[];
  /** The dollars that the account of a newcomer begins with. Default: 0. */
  credit?: string | number;
  session?: SessionBlock;
}
/** An identity provider: an issuer of OpenID Connect, or GitHub. */
export interface IdentityProviderEntry {
  /**
   * Whether it speaks OpenID Connect, or is GitHub, which has an API of its own. Default: openid.
   */
  kind?: 'openid' | 'github';
  /**
   * The name on the button that people press to sign in. Without it, the key of the entry with a
   * capital, or GitHub.
   */
  name?: string;
  /**
   * The address of the OpenID Connect issuer; its keys and endpoints are found from it. Needed for
   * the kind openid. Without it, the kind must be github.
   */
  issuer?: string;
  /** The ID that the identity provider gave this gateway when it was registered there. */
  client_id: string;
  /**
   * The secret that belongs to `client_id`. Needed for GitHub. Without it, the gateway is a public
   * client that proves itself by PKCE alone.
   */
  client_secret?: string;
  scopes?: Fields;
  /**
   * Whether addresses count as verified though the issuer never says so, as in a directory of a
   * company. Default: false.
   */
  trust_email?: boolean;
  /**
   * The address of a GitHub Enterprise server; for the kind github only. Default:
   * https://github.com.
   */
  base_url?: string;
  /**
   * The address of the API of GitHub; for the kind github only. With a `base_url` that is /api/v3
   * under it. Default: https://api.github.com.
   */
  api_url?: string;
}
/** How long a session of the dashboard lasts. Without it, its keys have their defaults. */
export interface SessionBlock {
  /** How long a session may be unused before it ends. Default: 12h. */
  idle?: string;
  /** How long a session lasts at most, however much it is used. Default: 30d. */
  lifetime?: string;
}
/** An organisation whose models these are. */
export interface OwnerEntry {
  /** The name of the owner as people read it. */
  name: string;
}
/** An account at an upstream: which manifest, which credentials. */
export interface ProviderEntry {
  /**
   * The manifest that says how to speak to this upstream: a name from the shipped providers or from
   * providers/ beside this file, or the path of your own. Without it, the key of the entry is the
   * name.
   */
  uses?: string;
  /**
   * The API key of your account at the upstream. Keep it in the environment or in a file. Without
   * it, no key is sent; `check` says if the manifest demands one.
   */
  api_key?: string;
  /**
   * The key file of a Google Cloud service account, in place of an `api_key`. Access tokens are
   * made from it and renewed. Without it, calls carry the `api_key`.
   */
  service_account?: string;
  /**
   * The server that gives out access tokens for `service_account`. Without it, the one in the key
   * file, if it is at googleapis.com.
   */
  token_url?: string;
  /**
   * The ID of the AWS key that signs each request, with `secret_access_key`. Without it, nothing is
   * signed and the `api_key` is sent.
   */
  access_key_id?: string;
  /**
   * The secret of the AWS key that signs each request. Without it, nothing is signed and the
   * `api_key` is sent.
   */
  secret_access_key?: string;
  /**
   * The session token that belongs to temporary AWS keys. Without it, the keys count as permanent
   * ones.
   */
  session_token?: string;
  /**
   * The region of the upstream: it stands in the address where the manifest has {region}, and in
   * signatures. Without it, the default in the manifest, if it has one.
   */
  region?: string;
  /**
   * The name of your resource at the upstream: it stands in the address where the manifest has
   * {resource}. Without it, the default in the manifest, if it has one.
   */
  resource?: string;
  /**
   * The project at the upstream: it stands in the address where the manifest has {project}. Without
   * it, the default in the manifest, if it has one.
   */
  project?: string;
  /**
   * The version of the upstream's API: it stands in the address where the manifest has
   * {api_version}. Without it, the default in the manifest, if it has one.
   */
  api_version?: string;
  /**
   * The address that paths of operations are joined to, for a server of your own or another region.
   * Without it, that of the manifest.
   */
  base_url?: string;
  /**
   * Headers that go with every call to this upstream, beside those of the manifest. Without it,
   * none are added.
   */
  headers?: {
    /** The value of the header. */
    [k: string]: string;
  };
  timeout?: TimeoutBlock;
  /**
   * The least time between two questions about one image or video in the making. Default: the
   * manifest's, else 2s.
   */
  poll_interval?: string;
  /**
   * Settings of a provider that answers inside the gateway, such as the simulator. Without it,
   * those of the manifest.
   */
  settings?: {
    [k: string]: unknown;
  };
  /**
   * What an aborted call costs: `abort` where the upstream then stops billing, `drain` where it
   * bills on, so that the gateway reads the answer to its end. Default: the manifest's, else drain.
   */
  on_abort?: 'abort' | 'drain';
}
/** How long each phase of a call to an upstream may take. */
export interface TimeoutBlock {
  /**
   * How long connecting to the upstream may take, with the wait for a free connection. Default: the
   * manifest's, else 5s.
   */
  connect?: string;
  /**
   * How long the upstream may take from the request to the first byte of its answer; client
   * libraries wait ten minutes. Default: the manifest's, else 10m.
   */
  first_byte?: string;
  /**
   * How long the upstream may be silent in the middle of an answer. A model may reason so long
   * without a word. Default: the manifest's, else 5m.
   */
  idle?: string;
  /**
   * How long a call of the upstream may take. A stream whose first output has come is limited by
   * `idle` alone. Default: the manifest's, else 10m.
   */
  total?: string;
}
/** A model that clients may ask for by this ID. */
export interface ModelEntry {
  /** The owner of the model: a key under `owners`. */
  owner: string;
  /**
   * What requests for this model may ask. A request that needs another capability is 400, and every
   * upstream must serve all of them.
   */
  capabilities: Capability[];
  /**
   * The upstreams that serve the model, tried in this order until one answers. Neighbours with a
   * `weight` share the load.
   */
  upstreams: UpstreamEntry[];
  limits?: ModelLimitsBlock;
  passthrough?: Fields;
  /**
   * Types of tools of the upstream's own that requests may name. The price must cover what they
   * cost. Without it, only `function`.
   *
   * Items: A type of tool.
   */
  tool_types?: string[];
  price?: PriceEntry;
  /**
   * The day or second when the model was made, as the list of models tells it. Without it, the
   * first day of 2024, as its day is not known.
   */
  created?: string | number;
}
/** One place where the model runs: a provider, and the ID of the model there. */
export interface UpstreamEntry {
  /** The provider that is called: a key under `providers`, often named like its manifest. */
  provider: string;
  /** The model's ID at this provider. Without it, the public ID. */
  model?: string;
  /**
   * The share of the load among neighbours that have a weight too: 3 gets three times as much as 1.
   * Without it, the upstream is tried in its place in the order.
   */
  weight?: number;
  /**
   * Fields that the gateway writes into every request to this upstream, whatever the client said.
   * Default: none.
   */
  set?: {
    [k: string]: unknown;
  };
  drop?: Fields;
  /** Other names for fields at this upstream, beside those of its manifest. Default: none. */
  rename?: {
    [k: string]: Field;
  };
  price?: PriceEntry;
}
/**
 * The prices of all tokens of a call whose prompt is longer than `above_tokens`. A price that it
 * does not give stays as it is. Without it, long prompts cost as much as short ones.
 */
export interface LongPrompt {
  /**
   * The tokens of the longest prompt that still has the other prices. Without it, the block cannot
   * be read.
   */
  above_tokens: number;
  /** Dollars for a million tokens of a long prompt. Without it, the price of a short one. */
  input_per_million?: number;
  /**
   * Dollars for a million tokens of a long prompt that the upstream read from its cache. Without
   * it, the price of a short one.
   */
  cached_input_per_million?: number;
  /**
   * Dollars for a million tokens of a long prompt that the upstream wrote into its cache. Without
   * it, the price of a short one.
   */
  cache_write_per_million?: number;
  /**
   * Dollars for a million tokens of audio in a long prompt. Without it, the price of a short one.
   */
  audio_input_per_million?: number;
  /**
   * Dollars for a million output tokens behind a long prompt. Without it, the price behind a short
   * one.
   */
  output_per_million?: number;
  /**
   * Dollars for a million output tokens of audio behind a long prompt. Without it, the price behind
   * a short one.
   */
  audio_output_per_million?: number;
}
/**
 * Bounds of what one request may ask of this model; they also bound what is held. Without it, each
 * limit has its default.
 */
export interface ModelLimitsBlock {
  /**
   * The most output tokens of one answer; a request for more is cut to it. Without it, nothing is
   * cut, and a client that names no limit gets `default_max_tokens`.
   */
  max_tokens?: number;
  /**
   * The output tokens for a client that names no limit. It bounds what is held. Without it,
   * `limits.default_max_tokens` of the gateway, else `max_tokens`, else 4096 where tokens cost.
   */
  default_max_tokens?: number;
  /**
   * The most tokens that the model reads and writes in one request. Without it, the upstream
   * decides.
   */
  context?: number;
  /**
   * The prompt tokens that one image part is taken to cost, so that the hold covers it. Without it,
   * `image_tokens` of the manifest, else 4096 for chat, and 8192 for image edits and moderations.
   */
  image_tokens?: number;
  /** The most images of one request. Default: 10. */
  images?: number;
  /**
   * The most pixels of one image whose price does not go by size; 1792x1024 and 1536x1024 are below
   * it. Default: 2097152.
   */
  image_pixels?: number;
  /** The longest audio of one transcription; a longer file is 400. Without it, any length. */
  audio_seconds?: number;
  /** The longest video of one request, and its length where a client names none. Default: 8. */
  duration_seconds?: number;
  /** The most videos of one request. Default: 4. */
  sample_count?: number;
  /**
   * The resolutions that a video may have. Default: 720p, 1080p, 4k.
   *
   * Items: A resolution of videos.
   */
  resolutions?: ('720p' | '1080p' | '4k')[];
}
/** Lists of stages to add, each by the stage that it is put beside. */
export interface StageInsertions {
  [k: string]: Stages;
}
