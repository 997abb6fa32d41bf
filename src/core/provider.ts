import type { ChatCodec } from '../modalities/chat/codec.js';
import type { ImageCodec } from '../modalities/image/codec.js';
import type { ErrorReader } from '../upstream/error-body.js';
import type { Resolution, VideoCodec } from '../modalities/video/codec.js';

export const CAPABILITIES = ['chat', 'vision', 'audio', 'tools', 'image', 'video'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The caller of a request, known from its API key. */
export interface Caller {
  key_id: string;
  account_id: string;
  /** The only models that the key may use; undefined where it may use all. */
  models: readonly string[] | undefined;
}

/** Prices in nano-dollars (1e-9 USD); those of tokens are per million, so they stay integers. */
export interface Price {
  free: boolean;
  input_nano_per_million: bigint;
  output_nano_per_million: bigint;
  /** Nano-dollars by `any`, by quality (`standard`, `hd`) or by size (`1024x1024`). */
  per_image?: ReadonlyMap<string, bigint>;
  /** Nano-dollars by resolution and sound: `720p/audio`, `4k/silent`. */
  per_video_second?: ReadonlyMap<string, bigint>;
}

/** Milliseconds for each phase of an upstream call. */
export interface Timeouts {
  connect_ms: number;
  /** From the request being sent to the first byte of the answer's body. */
  first_byte_ms: number;
  /** Between two packets of an answer's body. */
  idle_ms: number;
  total_ms: number;
}

/** One operation that a provider serves: where it is, and the codec that speaks its wire format. */
export interface Operation {
  name: string;
  path: string;
  codec: ChatCodec;
}

/** How a provider makes pictures; more than `most` are asked for by as many calls. */
export interface ImageOperation {
  path: string;
  codec: ImageCodec;
  most: number;
}

/** How a provider makes videos; more than `most` are asked for by as many tasks. */
export interface VideoOperation {
  codec: VideoCodec;
  most: number;
}

/** What signs requests for access tokens, from the key file that a cloud gives out. */
export interface ServiceAccount {
  client_email: string;
  /** PEM. */
  private_key: string;
  /** Where tokens are given out. */
  token_url: string;
}

/** A provider entry of gateway.yaml joined with its manifest, ready to be called. */
export interface Provider {
  name: string;
  manifest: string;
  base_url: string;
  /** Headers of every call, credentials included: never to be logged. */
  headers: Readonly<Record<string, string>>;
  /** Whose access tokens go with every call: never to be logged. */
  service_account?: ServiceAccount;
  operations: ReadonlyMap<string, Operation>;
  image?: ImageOperation;
  video?: VideoOperation;
  /** How its errors are read, where its manifest says so. */
  read_error?: ErrorReader;
  timeouts: Timeouts;
  /** The least time between two polls of one task. */
  poll_interval_ms: number;
  /** What an abandoned answer costs: `abort` where the upstream stops billing, else `drain`. */
  on_abort: 'abort' | 'drain';
  /** Tokens that it adds to a prompt and charges for, and more of them where tools are sent. */
  hidden_tokens?: { base: number; tools: number };
  /** Prompt tokens that one image part is taken to cost, where the model does not say. */
  image_tokens?: number;
  /** Answers from inside this process instead of over the network. */
  local: LocalUpstream | undefined;
  /** Facts about the wire that its codec reads, from the manifest. */
  wire: Readonly<Record<string, unknown>>;
}

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
  context: number | undefined;
  /** Prompt tokens that one image part is taken to cost; else its provider's manifest says it. */
  image_tokens: number | undefined;
  /** The most pictures that one request may ask for; 10 where the file leaves it out. */
  images?: number;
  /** The most pixels of a picture whose price does not go by its size; 2^21 where left out. */
  image_pixels?: number;
  /** What the file narrows of the bounds of specification 2.8. */
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

/** What goes to an upstream over the wire. */
export interface WireRequest {
  method: 'GET' | 'POST';
  /**
   * Joined to the provider's `base_url`, unless it is an absolute http(s) URL, which must be public
   * or the operator's choice.
   */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | undefined;
  /** False keeps the provider's headers back. Another origin than its own never gets them. */
  credentials?: boolean;
}

/** What comes back: headers in lower case; the body may be read once, as bytes. */
export interface WireAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: AsyncIterable<Uint8Array>;
}

/** An upstream inside this process: a function from wire request to wire answer. */
export interface LocalUpstream {
  answer(
    request: WireRequest,
    settings: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<WireAnswer>;
  settings: Readonly<Record<string, unknown>>;
}
