import type { RateLimits } from '../core/configuration.js';
import { GatewayError, OptionError } from '../core/errors.js';
import { ratesInForce, type Rates } from '../core/limits.js';
import { publicName, type Caller, type Model } from '../core/model.js';
import type { LimitedBy } from '../core/request-record.js';
import { NO_TOKENS } from '../core/usage.js';
import { isRecord } from '../lib/objects.js';
import { withTimeout } from '../lib/with-timeout.js';
import {
  formatOf,
  type Modalities,
  type RateLeft,
  type RequestFormat,
} from '../pipeline/modality.js';
import type { Services } from '../pipeline/services.js';
import { fact, type CountedRequest, type Stage } from '../pipeline/stage.js';
import { MINUTE_MS, ownedCounter } from '../store/rates/rate-counts.js';
import type { RateCommand, RateCounts, RateLimit, RateResult } from '../store/rates/rate-types.js';
import { StoreUnreachable } from '../store/store-error.js';

/** A limit, and whom it limits. */
interface OwnedLimit extends RateLimit {
  limiter: LimitedBy['limiter'];
  /** Set if it counts the requests of one endpoint alone. */
  of_endpoint?: true;
}

/**
 * Counts a request by the rates of its key, its account, its model and of all, and refuses it where
 * one of them is used up. An option such as `{ key: {…} }` gives an endpoint counters of its own,
 * in place of those of `rates` in gateway.yaml; the terms of keys and accounts hold there too.
 */
export function limit(modalities: Modalities): Stage {
  return {
    name: 'limit',
    shape: (option) => {
      readOption(option);
      return { needs: ['caller', 'model', 'work'], gives: [] };
    },
    create: (option, services, endpoint) => {
      const limitsFor = limitsReader(
        services.configuration.rates,
        readOption(option),
        endpoint.name,
      );
      const format = formatOf(modalities, endpoint);
      const rateHeaders = format?.rateHeaders?.bind(format);
      return async (ctx, next) => {
        const { state } = ctx;
        const limits = limitsFor(fact(state, 'caller'), fact(state, 'model'));
        if (limits.length === 0) return next();
        const tokens = fact(state, 'work').maxTokens?.() ?? 0;
        const command = { request_id: state.request_id, limits, tokens };
        const result = await services.store.rates.take(command);
        const known = { limits, counts: result.counts, now_ms: services.now() };
        state.headers = headersOf(known, rateHeaders);
        if (!result.admitted) {
          const { unit, at } = result;
          const { limiter } = limits[at]!;
          if (state.notes) state.notes.limited_by = { limiter, unit };
          throw rateLimited(limits[at]!, fact(state, 'model'), command, result, services.now());
        }
        state.rate = countedRequest(command, result.counts, services);
        try {
          await next();
        } finally {
          await state.rate.end(NO_TOKENS);
        }
      };
    },
  };
}

/** The option of the stage, which the schema of gateway.yaml has checked. */
function readOption(option: unknown): RateLimits {
  if (option === undefined || option === null) return {};
  if (isRecord(option)) return option;
  throw new OptionError('its option is a block such as { key: { requests_per_minute: 60 } }');
}

/** Returns a function that lists the limits of a request, those of its key first. */
function limitsReader(
  rates: RateLimits,
  own: RateLimits,
  endpoint: string,
): (caller: Caller, model: Model) => OwnedLimit[] {
  const prefix = `endpoint ${endpoint} `;
  const all = ofAll(rates, own, prefix);
  return ({ key_id, account_id, key_rates, account_rates }, model) => {
    const limits: OwnedLimit[] = [];
    const add = (limiter: 'key' | 'account', id: string, terms: Rates | undefined): void => {
      const { [limiter]: special } = own;
      const counter = ownedCounter(limiter, id);
      if (special) {
        limits.push({ counter: prefix + counter, rates: special, limiter, of_endpoint: true });
      }
      const both = ratesInForce(special ? undefined : rates[limiter], terms);
      if (both) limits.push({ counter, rates: both, limiter });
    };
    add('key', key_id, key_rates);
    add('account', account_id, account_rates);
    if (model.rates) {
      limits.push({ counter: `model ${model.id}`, rates: model.rates, limiter: 'model' });
    }
    if (all) limits.push(all);
    return limits;
  };
}

function ofAll(rates: RateLimits, own: RateLimits, prefix: string): OwnedLimit | undefined {
  if (own.all) {
    return { counter: `${prefix}all`, rates: own.all, limiter: 'all', of_endpoint: true };
  }
  return rates.all && { counter: 'all', rates: rates.all, limiter: 'all' };
}

/** The limits of a request, and what they have counted; undefined for what is not known. */
interface Counted {
  limits: readonly OwnedLimit[];
  counts: readonly (RateCounts | undefined)[];
  now_ms: number;
}

/**
 * Tells the client what is left: in the headers of OpenAI's API, which most clients read, in those
 * of the draft for HTTP (draft-ietf-httpapi-ratelimit-headers), and in those of its own API.
 */
function headersOf(
  { limits, counts, now_ms }: Counted,
  rateHeaders: RequestFormat['rateHeaders'],
): Record<string, string> {
  const least: Partial<Record<'requests' | 'tokens', RateLeft>> = {};
  let policies = '';
  let states = '';
  for (const [at, { limiter, rates }] of limits.entries()) {
    const { requests_per_minute, tokens_per_minute, concurrent_requests } = rates;
    const known = counts[at];
    const reset_ms = (known?.window_ms ?? 0) + MINUTE_MS;
    const tell = (name: string, unit: 'requests' | 'tokens', limit: number, used: number): void => {
      const parameters = unit === 'tokens' ? ';w=60;qu="tokens"' : ';w=60';
      policies += `, "${name}";q=${limit}${parameters}`;
      if (!known) return;
      const remaining = Math.max(0, limit - used);
      states += `, "${name}";r=${remaining};t=${secondsUntil(reset_ms, now_ms)}`;
      if (least[unit] && least[unit].remaining <= remaining) return;
      least[unit] = { limit, remaining, reset_ms };
    };
    if (requests_per_minute !== undefined) {
      tell(limiter, 'requests', requests_per_minute, known?.requests ?? 0);
    }
    if (tokens_per_minute !== undefined) {
      tell(`${limiter}-tokens`, 'tokens', tokens_per_minute, known?.tokens ?? 0);
    }
    if (concurrent_requests === undefined) continue;
    const name = `${limiter}-concurrent`;
    policies += `, "${name}";q=${concurrent_requests};qu="concurrent-requests"`;
    if (!known) continue;
    states += `, "${name}";r=${Math.max(0, concurrent_requests - known.in_flight)}`;
  }
  const headers: Record<string, string> = { 'ratelimit-policy': policies.slice(2) };
  if (states !== '') headers.ratelimit = states.slice(2);
  for (const unit of UNITS) {
    const left = least[unit];
    if (!left) continue;
    headers[`x-ratelimit-limit-${unit}`] = String(left.limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(left.remaining);
    headers[`x-ratelimit-reset-${unit}`] = `${secondsUntil(left.reset_ms, now_ms)}s`;
  }
  return rateHeaders ? { ...headers, ...rateHeaders(least) } : headers;
}

const UNITS = ['requests', 'tokens'] as const;

function secondsUntil(time_ms: number, now_ms: number): number {
  return Math.max(0, Math.ceil((time_ms - now_ms) / 1000));
}

/** Long enough for most short requests to end. */
const CONCURRENT_RETRY_MS = 1_000;

/** The refusal: 429, with who limits what, and when to try again. */
function rateLimited(
  { rates, limiter, of_endpoint }: OwnedLimit,
  model: Model,
  { tokens }: RateCommand,
  { unit, at, counts }: RateResult & { admitted: false },
  now_ms: number,
): GatewayError {
  const { subject, sends, has, uses } = wordsOf(limiter, model);
  const { requests_per_minute = 0, tokens_per_minute = 0, concurrent_requests = 0 } = rates;
  const here = of_endpoint ? ' at this endpoint' : '';
  if (unit === 'concurrent') {
    const most = `${counted(concurrent_requests, 'request')} at once${here}`;
    const message = `${capitalized(subject)} ${has} ${most}; try again when one has ended.`;
    return new GatewayError('rate_limited', message, { headers: retryAfter(CONCURRENT_RETRY_MS) });
  }
  if (unit === 'tokens' && tokens > tokens_per_minute) {
    const message =
      `This request may use up to ${tokens} tokens, but ${subject} ${uses} ` +
      `${counted(tokens_per_minute, 'token')} a minute${here}: send a shorter prompt, or ask for ` +
      'fewer output tokens.';
    // Clients must not send the same request again.
    return new GatewayError('rate_limited', message, { headers: { 'x-should-retry': 'false' } });
  }
  const { window_ms = now_ms, tokens: used = 0 } = counts[at] ?? {};
  const wait_ms = Math.max(1, window_ms + MINUTE_MS - now_ms);
  const limit =
    unit === 'requests'
      ? `${sends} ${counted(requests_per_minute, 'request')} a minute${here}`
      : `${uses} ${counted(tokens_per_minute, 'token')} a minute${here}, of which ${used} are ` +
        `used, and this request may use up to ${tokens}`;
  const message = `${capitalized(subject)} ${limit}; try again in ${Math.ceil(wait_ms / 1000)} s.`;
  return new GatewayError('rate_limited', message, { headers: retryAfter(wait_ms) });
}

/** The words of a refusal for whose limit it is. */
function wordsOf(limiter: LimitedBy['limiter'], model: Model) {
  const [sends, has, uses] =
    limiter === 'key' || limiter === 'account'
      ? ['may send', 'may have', 'may use']
      : ['takes', 'takes', 'takes'];
  const subjects = {
    key: 'this API key',
    account: 'this account',
    model: `the model "${publicName(model)}"`,
    all: 'this gateway',
  };
  return { subject: subjects[limiter], sends, has, uses };
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** In whole seconds, and exactly: some clients obey no wait of 60 seconds. */
function retryAfter(wait_ms: number): Record<string, string> {
  return { 'retry-after': String(Math.ceil(wait_ms / 1000)), 'retry-after-ms': String(wait_ms) };
}

/** How long an answer waits for the store to end its request. */
const END_WAIT_MS = 1_000;

function countedRequest(
  { request_id, limits, tokens }: RateCommand,
  counts: readonly RateCounts[],
  { store, log }: Services,
): CountedRequest {
  const windows_ms = counts.map(({ window_ms }) => window_ms);
  const hasTokens = limits.some(({ rates }) => rates.tokens_per_minute !== undefined);
  let hasEnded = false;
  return {
    end: ({ prompt_tokens, completion_tokens }) => {
      if (hasEnded) return undefined;
      hasEnded = true;
      const more_tokens = hasTokens ? prompt_tokens + completion_tokens - tokens : 0;
      const ended = store.rates.end({ request_id, limits, tokens: more_tokens, windows_ms });
      if (!ended) return undefined;
      const logged = ended.catch((err: unknown) => {
        if (err instanceof StoreUnreachable) return;
        log.error({ request_id, err }, 'the end of a request could not be counted');
      });
      return withTimeout(logged, END_WAIT_MS);
    },
  };
}
