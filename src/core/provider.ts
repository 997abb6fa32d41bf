import type { ErrorReader } from './upstream-error.js';

/** Milliseconds for each phase of an upstream call. */
export interface Timeouts {
  connect_ms: number;
  /** From the request being sent to the first byte of the answer's body. */
  first_byte_ms: number;
  /** Between two packets of an answer's body. */
  idle_ms: number;
  total_ms: number;
}

/** How a provider serves one modality. */
export interface ProviderOperation {
  path: string;
  /** Speaks the wire format; its modality knows what it is. */
  codec: unknown;
  /** A request for more than this is sent as several. */
  max: number;
  /** Where images are edited; absent where they are not. */
  edit?: { path: string };
  /** Where audio is translated; absent where it is not. */
  translate?: string;
  /** `bytes` where the upstream follows no URLs: the gateway fetches the images of a request. */
  image_urls?: 'bytes';
}

/**
 * A request as it will go out, for a signature over all of it: its headers without those of the
 * connection, names in lower case.
 */
export interface UnsignedRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | undefined;
}

/** Answers the headers that go with the request beside its own. `now_ms` is Unix time. */
export type RequestSigner = (
  request: UnsignedRequest,
  credentials: Credentials,
  now_ms: number,
) => Promise<Record<string, string>>;

/** Keys that sign requests, from the provider's entry in gateway.yaml: never to be logged. */
export interface Credentials {
  region?: string;
  access_key_id?: string;
  secret_access_key?: string;
  session_token?: string;
}

/** The account that signs requests for access tokens, from the key file that a cloud gives out. */
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
  /** Signs every call, where the manifest says `auth: { signer }`. */
  signer?: { sign: RequestSigner; credentials: Credentials };
  /** By the name of the modality. */
  operations: ReadonlyMap<string, ProviderOperation>;
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

/** A request to an upstream. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
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

/** An upstream's answer: headers in lower case; the body may be read once, as bytes. */
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

/** A part of a multipart form: a value, or a file with a name and a media type. */
export type FormPart =
  | { name: string; value: string }
  | { name: string; file: Uint8Array; filename: string; type: string };

export interface Encoded {
  path: string;
  headers?: Record<string, string>;
  body: Record<string, unknown>;
  /** The answer comes as a stream, although the client wants it whole: it would take too long. */
  is_stream?: boolean;
  /** Sent as `multipart/form-data` in place of the body. */
  form?: readonly FormPart[];
  /** Names of what was asked for and could not be said on this wire. */
  ignored?: readonly string[];
}
