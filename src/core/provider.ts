import type { ErrorReader } from './upstream-error.js';

/** Milliseconds for each phase of an upstream call. */
export interface Timeouts {
  connect_ms: number;
  /** From the sending of the request to the first byte of the answer's body. */
  first_byte_ms: number;
  /** Between two packets of an answer's body. */
  idle_ms: number;
  total_ms: number;
}

/** The operation by which a provider serves one modality. */
export interface ProviderOperation {
  path: string;
  /** Encodes and decodes the wire format. Its modality knows its type. */
  codec: unknown;
  /** The maximum of results of one call. A request for more is sent as several calls. */
  max: number;
  /** The path for editing images; absent if the provider cannot. */
  edit?: { path: string };
  /** The path for translating audio; absent if the provider cannot. */
  translate?: string;
  /**
   * `bytes` if the upstream follows no URLs, so that the gateway fetches the images of a request.
   */
  image_urls?: 'bytes';
}

/** How many calls a provider gets for so many results of one request. */
export function callsFor(
  { operations }: Pick<Provider, 'operations'>,
  work: string,
  results: number,
): number {
  return Math.max(1, Math.ceil(results / (operations.get(work)?.max ?? results)));
}

/**
 * A request to be signed, as it will be sent. Its headers are those to be signed, without the
 * headers of the connection, and with names in lower case.
 */
export interface UnsignedRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | undefined;
}

/** Returns the headers that the signature adds to a request. `now_ms` is Unix time. */
export type RequestSigner = (
  request: UnsignedRequest,
  credentials: Credentials,
  now_ms: number,
) => Promise<Record<string, string>>;

/** The keys that sign requests, from the provider's entry. They must never be logged. */
export interface Credentials {
  region?: string;
  access_key_id?: string;
  secret_access_key?: string;
  session_token?: string;
}

/** The account that signs requests for access tokens, from the key file of a cloud. */
export interface ServiceAccount {
  client_email: string;
  /** PEM. */
  private_key: string;
  /** The URL of the token server. */
  token_url: string;
}

/** A provider entry of gateway.yaml joined with its manifest, ready to be called. */
export interface Provider {
  name: string;
  manifest: string;
  /** A hash of what the manifest says, by which `diff` tells a changed one. */
  manifest_digest?: string;
  base_url: string;
  /** The headers of every call, with credentials. They must never be logged. */
  headers: Readonly<Record<string, string>>;
  /** The account whose access token is sent with every call. It must never be logged. */
  service_account?: ServiceAccount;
  /** Signs every call, if the manifest has `auth: { signer }`. */
  signer?: { sign: RequestSigner; credentials: Credentials };
  /** By the name of the modality. */
  operations: ReadonlyMap<string, ProviderOperation>;
  /** Reads its errors, if its manifest has rules for them. */
  read_error?: ErrorReader;
  timeouts: Timeouts;
  /** How often a call that failed is sent again, where that cannot cost twice; 0 by default. */
  retries?: number;
  /** It bills calls that it answers with an error. */
  bills_errors?: true;
  /** The minimum time between two polls of one task. */
  poll_interval_ms: number;
  /**
   * `abort` if the upstream stops billing at an abort; `drain` if an abandoned answer is billed
   * whole.
   */
  on_abort: 'abort' | 'drain';
  /**
   * The tokens that it adds to every prompt and bills, and those that it adds to one with tools.
   */
  hidden_tokens?: { base: number; tools: number };
  /** The estimated prompt tokens of an image part, for models without an estimate. */
  image_tokens?: number;
  /** Answers in this process instead of over the network. */
  local: LocalUpstream | undefined;
  /** Facts about the wire that its codec reads, from the manifest. */
  wire: Readonly<Record<string, unknown>>;
}

/** A request to an upstream. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /**
   * Joined to the provider's `base_url`, unless it is an absolute http(s) URL. Such a URL must be
   * public or the operator's own choice.
   */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | undefined;
  /**
   * False leaves the provider's headers out. An origin that is not the provider's never gets them.
   */
  credentials?: boolean;
}

/** An upstream's answer: headers in lower case; the body may be read once, as bytes. */
export interface WireReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: AsyncIterable<Uint8Array>;
  /** Lifts the limit on the whole call, as the answer flows: from now on `idle` alone limits it. */
  liftTotal?: () => void;
}

/** An upstream inside this process: a function from wire request to wire answer. */
export interface LocalUpstream {
  answer(
    request: WireRequest,
    settings: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<WireReply>;
  settings: Readonly<Record<string, unknown>>;
}

/** A part of a multipart form: a value, or a file with a name and a media type. */
export type FormPart =
  | { name: string; value: string }
  | { name: string; file: Uint8Array; filename: string; type: string };

/** A request in an upstream's wire format, as a codec returns it. The body is sent as JSON. */
export interface Encoded {
  path: string;
  headers?: Record<string, string>;
  body: Record<string, unknown>;
  /** The answer comes as a stream, although the client wants it whole: it would take too long. */
  is_stream?: boolean;
  /** Sent as `multipart/form-data` in place of the body. */
  form?: readonly FormPart[];
  /** The fields of the request that this wire format cannot express. */
  ignored?: readonly string[];
}
