import type { Provider } from './provider.js';
import type { Rates } from './limits.js';
import type { Model } from './model.js';
import type { Place } from './config-fault.js';
import type { StorePlace } from './store-place.js';

/** One stage of an endpoint as the file writes it: `auth`, `validate: NAME`, `route: {…}`. */
export interface StageEntry {
  name: string;
  option: unknown;
  place: Place;
  /** The place of the option; undefined for a stage without one. */
  option_place?: Place;
  /** The places of the parts of an option that is a block, by paths such as `also/0`. */
  part_places?: Readonly<Record<string, Place>>;
}

/** An endpoint of the merged configuration: shipped, changed or the operator's own. */
export interface EndpointEntry {
  name: string;
  method: string;
  /** The path as written: `/v1/queue/{model}/requests/{requestID}`. */
  path: string;
  stages: readonly StageEntry[];
  place: Place;
  /** The path of gateway.yaml: paths in stages are relative to its folder. */
  main: string;
  /** What the shapes of its stages say of it; absent until its stages are loaded. */
  traits?: EndpointTraits;
}

export interface EndpointTraits {
  /** Each request leaves a record. */
  records: boolean;
  /** The format of its clients; undefined for the common one. */
  format: string | undefined;
  /** It answers the clients of all formats, each in its own. */
  all_formats: boolean;
  /** The facts that its stages give: `caller`, `request:chat-completion`, `work:chat`. */
  gives: readonly string[];
  /** The effects of its stages on money, as `Shape` has them. */
  money: readonly string[];
  /** What its clients are answered with; see `Shape`. */
  answers: string | undefined;
  /** The files of the operator's own schemas that its bodies are checked against. */
  own_schemas: readonly string[];
}

/** A service that people sign in with. */
export type IdentityProvider = OpenIdProvider | GithubProvider;

interface IdentityClient {
  /** The name of its entry in the file. Paths of the sign-in contain it. */
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
  /** Whether its e-mail addresses are trusted although it does not mark them as verified. */
  trust_email: boolean;
}

export interface GithubProvider extends IdentityClient {
  kind: 'github';
  /** The site where people sign in, and below it the API; without a closing slash. */
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

/** Rates by whom they limit. */
export interface RateLimits {
  key?: Rates;
  account?: Rates;
  all?: Rates;
}

/** gateway.yaml, checked, joined with its manifests, frozen. Durations in ms, sizes in bytes. */
export interface Configuration {
  file: string;
  directory: string;
  listen: { host: string; port: number };
  public_url: string;
  /** The file says no `public_url`, so it follows the address to listen on. */
  is_public_url_default: boolean;
  /** Absolute for SQLite: the file's own folder is the base of a relative path. */
  store: StorePlace;
  /** The folder of the charges that wait for the store; absolute. */
  journal: string;
  /** The zone of the days, weeks and months of allowances. */
  time_zone: string;
  drain_ms: number;
  /** How long new work is taken after the signal to stop, while `/readyz` is 503. */
  drain_delay_ms: number;
  limits: {
    body_bytes: number;
    /** The maximum of JSON values in a body. */
    body_values: number;
    /** How long a large body may stall while it is sent. */
    body_stall_ms: number;
    /** The maximum of requests with a key that a process serves at once. */
    in_flight: number;
    /** The maximum memory of the bodies and answers of all requests together. */
    in_flight_bytes: number;
    /** The maximum size of a JSON answer of an upstream. */
    answer_bytes: number;
    /** The maximum size of a stream of an upstream, and of one of its events. */
    stream_bytes: number;
    event_bytes: number;
    /** The maximum of events in a stream, of tool calls and parts of reasoning in an answer. */
    stream_events: number;
    answer_calls: number;
    answer_parts: number;
    /** How long, and how many bytes, an abandoned answer is read for its true usage. */
    drain_ms: number;
    drain_bytes: number;
    linger_ms: number;
    linger_bytes: number;
    connections: number;
    idle_connection_ms: number;
    /** How long a client may read nothing while bytes wait for it. */
    client_ms: number;
    /** How long a video task may run, and how long it is kept afterwards. */
    task_ms: number;
    /** How long answers are kept for repeated requests, and the maximum size of all. */
    idempotency_ms: number;
    idempotency_total_bytes: number;
    /** The maximum size of the journal: charges that wait on disk for the store. */
    journal_bytes: number;
    /** The maximum size of one image. */
    image_bytes: number;
    /** The maximum size of all images that are kept for clients, and how long they are kept. */
    images_total_bytes: number;
    image_ttl_ms: number;
    /** The limits for fetching the URLs of a request: time, size of all files, and number. */
    fetch_ms: number;
    fetch_bytes: number;
    fetch_urls: number;
    /** How long the media of a request are read, and the memory of a process that reads them. */
    media_ms: number;
    media_memory_bytes: number;
    /** The maximum of WebSockets of a process, and of one account there; 0 serves none. */
    sockets: number;
    account_sockets: number;
    /** The maximum memory of earlier turns of one socket, and of all of a process. */
    socket_bytes: number;
    sockets_total_bytes: number;
    /** How long a socket takes new turns. */
    socket_age_ms: number;
    /** The maximum of active keys that an account may make for itself. */
    keys: number;
    /** The maximum of failed keys, and of sign-ins, from one address in a minute. */
    failed_keys: number;
    sign_ins: number;
    /** Whether the usage of OpenAI's own chat completions has their cost. */
    cost_in_usage: boolean;
  };
  /** The rates of each key, of each account, and of all requests together. */
  rates: RateLimits;
  requests: {
    /** How long records of requests are kept, and how long the totals of hours and days. */
    keep_ms: number;
    keep_totals_ms: number;
    /** The maximum of records that wait for the store. */
    queue: number;
  };
  keep_alive_ms: number;
  log_level: string;
  /** `auto` is text on a terminal and JSON elsewhere. */
  log_format: 'auto' | 'text' | 'json';
  /** Whether answers have the headers with their upstream, their cost and their attempts. */
  headers: { upstream: boolean; cost: boolean; attempts: boolean };
  /** The address for scrapes by Prometheus; undefined if metrics are off. */
  metrics: { host: string; port: number } | undefined;
  /**
   * The webhook for alerts; undefined if they are off. Without `low_balance_nano` no balance is
   * low.
   */
  alerts: { url: string; secret: string; low_balance_nano: bigint | undefined } | undefined;
  /**
   * The collector of traces, and the share of requests that it gets; undefined if traces are off.
   */
  traces: { url: string; headers: Readonly<Record<string, string>>; sample: number } | undefined;
  /** Whether the dashboard is served. */
  dashboard: boolean;
  sign_in: SignIn;
  /** Networks, such as `10.0.0.0/8`, whose proxies may name the address of a client. */
  trusted_proxies: readonly string[];
  /** Origins whose pages may call the endpoints from a browser; `*` for all. */
  cors: readonly string[];
  first_start: { account: string; credit_nano: bigint } | undefined;
  owners: ReadonlyMap<string, { name: string }>;
  providers: ReadonlyMap<string, Provider>;
  models: ReadonlyMap<string, Model>;
  /** Models by the other names that clients may call them. */
  aliases: ReadonlyMap<string, Model>;
  endpoints: readonly EndpointEntry[];
}

/** The model that clients call by a name: its ID or an alias. */
export function modelNamed(
  { models, aliases }: Pick<Configuration, 'models' | 'aliases'>,
  name: string,
): Model | undefined {
  return models.get(name) ?? aliases.get(name);
}

/** All models as clients know them: each by its ID, and then by each alias. */
export function namedModels({
  models,
  aliases,
}: Pick<Configuration, 'models' | 'aliases'>): Model[] {
  return [...models.values(), ...aliases.values()];
}

/** The maximum idle time and the maximum lifetime of a session. */
export interface SessionLimits {
  idle_ms: number;
  lifetime_ms: number;
}
