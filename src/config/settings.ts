import { dirname, join, resolve } from 'node:path';
import { readNetworks } from './networks.js';
import { readListen } from './listen-address.js';
import { readOrigins } from './origins.js';
import { readAlerts } from './alerts.js';
import { readTraces } from './traces.js';
import { readSignIn } from './sign-in.js';
import type { Source } from '../yaml/source.js';
import { readTimeZone } from '../yaml/time-zone.js';
import { readStorePlace } from './store-place.js';
import { checkUnreadStore } from './store-url.js';
import { memoryOfRequests } from './container-memory.js';
import type { Configuration } from '../core/configuration.js';
import { readRateLimits } from './rates.js';
import { readDuration, readSize } from '../yaml/units.js';
import { readUrl } from '../yaml/urls.js';
import type { PartialLoad } from '../yaml/validate.js';
import type {
  FirstStart,
  GatewayFile,
  HeadersBlock,
  LimitsBlock,
  RequestsBlock,
} from '../schema-types/gateway.js';
import { readDollars } from '../yaml/dollars.js';

type Settings = Pick<
  Configuration,
  | 'listen'
  | 'public_url'
  | 'is_public_url_default'
  | 'store'
  | 'journal'
  | 'time_zone'
  | 'drain_ms'
  | 'drain_delay_ms'
  | 'keep_alive_ms'
  | 'limits'
  | 'rates'
  | 'requests'
  | 'log_level'
  | 'log_format'
  | 'headers'
  | 'dashboard'
  | 'sign_in'
  | 'trusted_proxies'
  | 'cors'
  | 'first_start'
  | 'metrics'
  | 'traces'
  | 'alerts'
>;

const MB = 1024 ** 2;
const HOUR_MS = 3_600_000;
/** No timer measures this time, so it may be longer than a timer can run. */
const REMEMBERED = { default: 24 * HOUR_MS, min: 1000, max: 720 * HOUR_MS };
const LINGER = { default: 2_000, min: 0, max: 60_000 };
const IDLE = { default: 30_000, min: 100, max: 10 * 60_000 };
const STALL = { default: 10_000, min: 100, max: 5 * 60_000 };
const FETCH = { default: 15_000, min: 100, max: 5 * 60_000 };
const MEDIA = { default: 5_000, min: 100, max: 60_000 };
const CLIENT = { default: 60_000, min: 100 };
const IMAGE = { default: HOUR_MS, min: 1_000, max: 720 * HOUR_MS };
const SOCKET_AGE = { default: HOUR_MS, min: 1_000, max: 24 * HOUR_MS };
const KEEP = { default: 30 * 24 * HOUR_MS, min: HOUR_MS, max: 3_650 * 24 * HOUR_MS };
const KEEP_TOTALS = { ...KEEP, default: 400 * 24 * HOUR_MS };
export const LISTEN = { host: '127.0.0.1', port: 8080 };
const METRICS = { host: '127.0.0.1', port: 9464 };
const DEFAULT_LISTEN = `${LISTEN.host}:${LISTEN.port}`;
const DEFAULT_JOURNAL = 'data/journal';

/** The settings of the process. Models, providers and endpoints are read elsewhere. */
export function readSettings(
  source: Source,
  gateway: PartialLoad<GatewayFile>,
  directory: string,
): Settings {
  const { listen: address = DEFAULT_LISTEN, public_url: url } = gateway;
  const duration = (key: 'drain' | 'drain_delay' | 'keep_alive', default_ms: number, min: number) =>
    readDuration(source, `/${key}`, gateway[key], { default: default_ms, min });
  const public_url = readPublicUrl(source, url, String(address));
  const dashboard = gateway.dashboard ?? true;
  checkJournal(source, gateway.journal);
  for (const at of ['/store', '/store/url', '/store/session_url']) checkUnreadStore(source, at);
  const limits = readLimits(source, gateway.limits ?? {});
  const keep_alive_ms = duration('keep_alive', 15_000, 100);
  const drain_ms = duration('drain', 30_000, 0);
  const store = readStorePlace(source, gateway.store, directory);
  const listen = readListen(source, 'listen', address, LISTEN);
  const metrics =
    gateway.metrics === undefined
      ? undefined
      : readListen(source, 'metrics', gateway.metrics, METRICS);
  if (metrics) checkSameAddress(source, listen, metrics);
  return {
    listen,
    public_url,
    is_public_url_default: url === undefined && !source.invalid_pointers.has('/public_url'),
    store,
    journal: journalFolder(directory, store.url, gateway.journal),
    time_zone: readTimeZone(source, '/time_zone', gateway.time_zone),
    drain_ms,
    drain_delay_ms: duration('drain_delay', 0, 0),
    keep_alive_ms,
    limits,
    rates: readRateLimits(gateway.rates),
    requests: readRequests(source, gateway.requests ?? {}),
    log_level: gateway.log?.level ?? 'info',
    log_format: gateway.log?.format ?? 'auto',
    headers: readHeaders(gateway.headers ?? {}),
    dashboard,
    sign_in: readSignIn(source, gateway.sign_in ?? {}),
    trusted_proxies: readNetworks(source, '/trusted_proxies', gateway.trusted_proxies ?? []),
    cors: readOrigins(source, '/cors', gateway.cors ?? []),
    first_start: readFirstStart(source, gateway.first_start),
    metrics,
    traces: readTraces(source, gateway.traces),
    alerts: readAlerts(source, gateway.alerts),
  };
}

/** Refuses metrics at the address of the gateway itself. */
function checkSameAddress(
  source: Source,
  listen: Settings['listen'],
  metrics: Settings['listen'],
): void {
  const isAny = (host: string): boolean => ['0.0.0.0', '[::]', '::'].includes(host);
  const isSameHost = metrics.host === listen.host || isAny(listen.host) || isAny(metrics.host);
  if (metrics.port === 0 || metrics.port !== listen.port || !isSameHost) return;
  const what = metrics.host === listen.host ? 'is the address' : 'has the port';
  const free = METRICS.port + (metrics.port === METRICS.port ? 1 : 0);
  source.fault('/metrics', {
    code: 'same_address',
    message: `metrics: ${source.word('/metrics')} ${what} of listen, and needs one of its own`,
    hint: `write another port, such as ${METRICS.host}:${free}`,
  });
}

function checkJournal(source: Source, written: string | undefined): void {
  if (written === undefined || source.hides('/journal')) return;
  if (!written.startsWith('~') && !/^[a-z]\w+:/i.test(written)) return;
  const message = `journal: ${source.word('/journal')} is no folder on a local disk`;
  const path = `such as /home/USER${written.slice(1)}`;
  const home = `~ is not replaced by a home folder: write the whole path, ${path}`;
  const hint = written.startsWith('~') ? home : 'write the path of a folder, such as data/journal';
  source.fault('/journal', { code: 'wrong_value', message, hint });
}

/** The folder of the journal. Its default is beside the SQLite file, on a disk that is kept. */
export function journalFolder(directory: string, store: string, written?: string): string {
  const beside = store.startsWith('sqlite:')
    ? join(dirname(store.slice('sqlite:'.length)), 'journal')
    : DEFAULT_JOURNAL;
  return resolve(directory, written ?? beside);
}

/**
 * The `public_url` of the file; without one, the address to listen on. A URL whose variables are
 * unknown is answered as written, `${NAME}` included.
 */
export function readPublicUrl(
  source: Source,
  url: string | undefined,
  address = DEFAULT_LISTEN,
): string {
  if (url === undefined && source.invalid_pointers.has('/public_url'))
    return source.written('/public_url');
  const read = url === undefined ? undefined : readUrl(source, '/public_url', url);
  const stand_in = /^https?:\/\/(?:[^/]*\*|your[-_.])/i.exec(read ?? '');
  if (stand_in && !source.hides('/public_url')) {
    const given = source.word('/public_url');
    const message = `public_url: ${given} is no address that clients can reach`;
    const hint = 'write the one host of the gateway, such as https://gateway.example.org';
    source.fault('/public_url', { code: 'placeholder', message, hint });
  }
  return read || `http://${address}`;
}

type SizeLimit =
  | 'body'
  | 'in_flight_bytes'
  | 'answer'
  | 'stream'
  | 'event'
  | 'drain_bytes'
  | 'linger_bytes'
  | 'idempotency_total'
  | 'journal_bytes'
  | 'image_bytes'
  | 'images_total'
  | 'socket_bytes'
  | 'sockets_total'
  | 'fetch_bytes'
  | 'media_memory';

function readLimits(source: Source, limits: PartialLoad<LimitsBlock>): Configuration['limits'] {
  const size = (key: SizeLimit, default_bytes: number, min = 1024) =>
    readSize(source, `/limits/${key}`, limits[key], { default: default_bytes, min });
  const drain = { default: 30_000, min: 0 };
  const body_bytes = size('body', 20 * MB);
  const memory_bytes = memoryOfRequests(process.constrainedMemory());
  const in_flight_bytes = size('in_flight_bytes', memory_bytes, 64 * 1024);
  return {
    body_bytes,
    body_values: limits.body_values ?? 100_000,
    body_stall_ms: readDuration(source, '/limits/body_stall', limits.body_stall, STALL),
    in_flight: limits.in_flight ?? 4_096,
    in_flight_bytes,
    answer_bytes: size('answer', 64 * MB),
    stream_bytes: size('stream', 256 * MB),
    event_bytes: size('event', 8 * MB),
    stream_events: limits.stream_events ?? 1_000_000,
    answer_calls: limits.answer_calls ?? 1_000,
    answer_parts: limits.answer_parts ?? 10_000,
    drain_ms: readDuration(source, '/limits/drain', limits.drain, drain),
    drain_bytes: size('drain_bytes', 16 * MB, 0),
    linger_ms: readDuration(source, '/limits/linger', limits.linger, LINGER),
    linger_bytes: size('linger_bytes', MB / 4, 0),
    connections: limits.connections ?? 2048,
    idle_connection_ms: readDuration(
      source,
      '/limits/idle_connection',
      limits.idle_connection,
      IDLE,
    ),
    sockets: limits.sockets ?? 1_000,
    account_sockets: limits.account_sockets ?? 100,
    socket_bytes: size('socket_bytes', 8 * MB),
    sockets_total_bytes: size('sockets_total', 256 * MB, 64 * 1024),
    socket_age_ms: readDuration(source, '/limits/socket_age', limits.socket_age, SOCKET_AGE),
    keys: limits.keys ?? 100,
    client_ms: readDuration(source, '/limits/client', limits.client, CLIENT),
    task_ms: readDuration(source, '/limits/task', limits.task, REMEMBERED),
    idempotency_ms: readDuration(source, '/limits/idempotency', limits.idempotency, REMEMBERED),
    idempotency_total_bytes: size('idempotency_total', 1024 * MB),
    journal_bytes: size('journal_bytes', 64 * MB),
    image_bytes: size('image_bytes', 32 * MB),
    images_total_bytes: size('images_total', 1024 * MB),
    image_ttl_ms: readDuration(source, '/limits/image_ttl', limits.image_ttl, IMAGE),
    fetch_ms: readDuration(source, '/limits/fetch', limits.fetch, FETCH),
    fetch_bytes: size('fetch_bytes', 20 * MB),
    fetch_urls: limits.fetch_urls ?? 20,
    media_ms: readDuration(source, '/limits/media', limits.media, MEDIA),
    media_memory_bytes: size('media_memory', 256 * MB, 128 * MB),
    failed_keys: limits.failed_keys ?? 300,
    sign_ins: limits.sign_ins ?? 30,
    cost_in_usage: limits.cost_in_usage ?? false,
  };
}

function readRequests(
  source: Source,
  { keep, keep_totals, queue }: PartialLoad<RequestsBlock>,
): Configuration['requests'] {
  const keep_ms = readDuration(source, '/requests/keep', keep, KEEP);
  const keep_totals_ms = readDuration(source, '/requests/keep_totals', keep_totals, KEEP_TOTALS);
  return { keep_ms, keep_totals_ms, queue: queue ?? 10_000 };
}

/** Headers that show customers the operator's upstreams are off unless the file turns them on. */
function readHeaders({
  upstream = false,
  cost = true,
  attempts = false,
}: PartialLoad<HeadersBlock>): Configuration['headers'] {
  return { upstream, cost, attempts };
}

function readFirstStart(
  source: Source,
  first: PartialLoad<FirstStart> | undefined,
): Configuration['first_start'] {
  if (first?.account === undefined) return undefined;
  const credit = first.credit === undefined ? 0n : readDollars(source, '/first_start/credit');
  return { account: first.account, credit_nano: credit };
}
