import type { Provider } from './provider.js';
import type { Model } from './model.js';
import type { Place } from './config-fault.js';

/** One stage of an endpoint as the file writes it: `auth`, `validate: NAME`, `route: {…}`. */
export interface StageEntry {
  name: string;
  option: unknown;
  place: Place;
}

export interface EndpointEntry {
  name: string;
  method: string;
  /** The path as written: `/v1/queue/{model}/requests/{requestID}`. */
  path: string;
  stages: readonly StageEntry[];
  place: Place;
  /** The path of gateway.yaml: paths in stages are relative to its folder. */
  main: string;
}

/** A third party that says who somebody is. */
export type IdentityProvider = OpenIdProvider | GithubProvider;

interface IdentityClient {
  /** Its entry's name in the file, which stands in paths. */
  name: string;
  /** Its display name. */
  title: string;
  client_id: string;
  /** A public client has none. */
  client_secret: string | undefined;
  scopes: readonly string[];
}

export interface OpenIdProvider extends IdentityClient {
  kind: 'openid';
  /** Exactly as written: https, or http to this machine. */
  issuer: string;
  /** Its addresses are good though it does not say that it has verified them. */
  trust_email: boolean;
}

export interface GithubProvider extends IdentityClient {
  kind: 'github';
  /** Where people sign in, and where a program asks who they are; without a closing slash. */
  base_url: string;
  api_url: string;
}

/** The sign-in allow list and the operators, as addresses in lower case. */
export interface SignIn {
  providers: ReadonlyMap<string, IdentityProvider>;
  /** Addresses, domains with an `@` before them, or `*`. */
  allow: readonly string[];
  operators: readonly string[];
  /** The credit of a new account. */
  credit_nano: bigint;
  session: SessionLimits;
}

/** gateway.yaml, checked, joined with its manifests, frozen. Durations in ms, sizes in bytes. */
export interface Configuration {
  file: string;
  directory: string;
  listen: { host: string; port: number };
  public_url: string;
  /** Absolute for SQLite: the file's own folder is the base of a relative path. */
  store: string;
  /** The folder of the charges that wait for the store; absolute. */
  journal: string;
  drain_ms: number;
  limits: {
    body_bytes: number;
    /** The most JSON values in a body, and how long a large one may bring next to nothing. */
    body_values: number;
    body_stall_ms: number;
    /** The most that the bodies and answers of all requests may weigh in memory. */
    in_flight_bytes: number;
    /** The most that a whole JSON answer of an upstream may weigh. */
    answer_bytes: number;
    /** The most that a whole stream of an upstream may weigh. */
    stream_bytes: number;
    event_bytes: number;
    /** How long, and how much, an abandoned answer is read on for its true usage. */
    drain_ms: number;
    drain_bytes: number;
    linger_ms: number;
    linger_bytes: number;
    connections: number;
    idle_connection_ms: number;
    /** How long a client may take none of what waits for it. */
    client_ms: number;
    /** How long a video task may take, and then how long it is kept. */
    task_ms: number;
    /** How long an answer is kept for a client that repeats its request, and how much of all. */
    idempotency_ms: number;
    idempotency_total_bytes: number;
    /** The most that the charges which wait for the store may weigh on disk. */
    journal_bytes: number;
    /** The most that one image may weigh. */
    image_bytes: number;
    /** The most that all images kept for their clients may weigh together, and for how long. */
    images_total_bytes: number;
    image_ttl_ms: number;
    /** How long fetching the URLs of a request may take, what they may weigh, and how many. */
    fetch_ms: number;
    fetch_bytes: number;
    fetch_urls: number;
    /** How many active keys an account may make for itself. */
    keys: number;
    /** How many of each one address may have in a minute. */
    failed_keys: number;
    sign_ins: number;
  };
  requests: {
    /** How long the record of a request is kept, and the totals of an hour or a day. */
    keep_ms: number;
    keep_totals_ms: number;
    /** The most records that wait for the store. */
    queue: number;
  };
  keep_alive_ms: number;
  log_level: string;
  /** `auto` is text on a terminal and JSON elsewhere. */
  log_format: 'auto' | 'text' | 'json';
  /** Which headers of an answer tell of the upstream that gave it, its cost and the attempts. */
  headers: { upstream: boolean; cost: boolean; attempts: boolean };
  /** Where Prometheus may ask for metrics; undefined where they are off. */
  metrics: { host: string; port: number } | undefined;
  /** Where alerts go; undefined where they are off. Without a balance none is low. */
  alerts: { url: string; secret: string; low_balance_nano: bigint | undefined } | undefined;
  /** The collector of traces, and the share of requests that it gets; undefined where it is off. */
  traces: { url: string; headers: Readonly<Record<string, string>>; sample: number } | undefined;
  /** False where nothing but the endpoints is served. */
  dashboard: boolean;
  sign_in: SignIn;
  /** Networks, such as `10.0.0.0/8`, whose word about a client's address is believed. */
  trusted_proxies: readonly string[];
  /** Origins whose pages may call the endpoints from a browser; `*` for all. */
  cors: readonly string[];
  first_start: { account: string; credit_nano: bigint } | undefined;
  owners: ReadonlyMap<string, { name: string }>;
  providers: ReadonlyMap<string, Provider>;
  models: ReadonlyMap<string, Model>;
  endpoints: readonly EndpointEntry[];
}

/** How long a session lasts unused, and at most. */
export interface SessionLimits {
  idle_ms: number;
  lifetime_ms: number;
}
