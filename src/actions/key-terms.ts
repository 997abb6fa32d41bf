import { modelNamed, type Configuration } from '../core/configuration.js';
import { GatewayError } from '../core/errors.js';
import { RATE_NAMES, type Rates } from '../core/limits.js';
import { formatDollars, parseDollars, withDollarSign } from '../lib/money.js';
import type { KeyChange } from '../store/keys/key-changes.js';
import type { Key } from '../store/keys/keys.js';
import type { RatesChange } from '../store/limits/rate-terms.js';
import { AccountSuspended, TooManyKeys } from '../store/store-error.js';
import {
  asInvalid,
  invalid,
  NAME_CHARACTERS,
  NotThere,
  readName,
  type ActionCaller,
  type ActionServices,
  type Field,
} from './action.js';
import {
  LIMIT_FIELDS,
  limitSentences,
  readFuture,
  readLimits,
  type LimitInput,
} from './limit-terms.js';
import { isoTime, type Limited } from './shapes.js';

/** The terms of a key, as the API and the command line send them; null takes one away. */
export interface KeyTermInput extends LimitInput {
  name?: string;
  expires?: string | null;
  expires_in_s?: number | null;
  models?: string[] | null;
  limit?: string | null;
}

/** How the command line and forms ask for the terms of a key. */
export const KEY_FIELDS = {
  name: {
    typed: '--name <text>',
    about: 'what the key is for',
    type: 'text',
    form: {
      label: 'Name',
      hint: 'What it is for, such as the program that will use it.',
      max: NAME_CHARACTERS,
    },
  },
  expires_in_s: {
    typed: '--expires <time>',
    about: 'refuse it after such a time, as in 12h or 30d',
    type: 'lifetime',
    form: { label: 'Expires' },
  },
  models: {
    typed: '--model <model>',
    about: 'let it use this model alone; may be repeated',
    type: 'models',
    form: {
      label: 'Models',
      hint: 'Choose none to allow all models, also models that are added later.',
    },
  },
  limit: {
    typed: '--limit <dollars>',
    about: 'let it spend so much in all',
    type: 'dollars',
    form: {
      label: 'Spending limit, in dollars',
      hint: 'The total that the key may spend. Leave it empty for no limit but your balance.',
      placeholder: '10.00',
    },
  },
  ...LIMIT_FIELDS,
} as const satisfies Record<string, Field>;

/**
 * The terms that the input sets, of a new key or of one that has some. Throws `GatewayError` (400)
 * for terms that allow nothing, and for rates that an operator has to decide on.
 */
export function readKeyTerms(
  input: KeyTermInput,
  { now, gateway }: ActionServices,
  { is_operator }: ActionCaller,
  before?: Pick<Key, 'models' | 'rates'>,
): KeyChange {
  const { name, models, limit } = input;
  const now_ms = now();
  const expires_ms = expiryOf(input, now_ms);
  const change: KeyChange = readLimits(input, now_ms);
  const highest = gateway?.configuration.rates.key;
  if (highest && !is_operator) refuseHigher(input.rates, highest, before?.rates ?? {});
  if (name?.trim() === '') throw invalid('name', 'A key needs a name.');
  if (name !== undefined) change.name = readName(name);
  if (expires_ms !== undefined) change.expires_ms = expires_ms;
  if (models) refuseUnknown(models, gateway?.configuration, before?.models ?? []);
  if (models !== undefined) change.models = models;
  if (limit !== undefined) change.limit_nano = limit === null ? null : readLimit(limit);
  const max_active = gateway?.configuration.limits.keys;
  if (max_active !== undefined) change.max_active = max_active;
  return change;
}

/**
 * A rate of a key goes before the one of gateway.yaml for each key, which people must not lift: it
 * stays within that one, or within what an operator has given the key.
 */
function refuseHigher(rates: RatesChange = {}, highest: Rates, before: Rates): void {
  for (const name of RATE_NAMES) {
    const bound = highest[name];
    const rate = rates[name] ?? 0;
    if (bound === undefined || rate <= Math.max(bound, before[name] ?? 0)) continue;
    throw invalid(`rates.${name}`, `rates.${name} is at most ${bound}: an operator can raise it.`);
  }
}

function readLimit(text: string): bigint {
  const limit_nano = parseDollars(text);
  if (limit_nano > 0n) return limit_nano;
  throw invalid('limit', 'limit must be above zero.');
}

/** Throws `GatewayError` for a model that the configuration in use does not have. */
function refuseUnknown(
  ids: readonly string[],
  configuration: Configuration | undefined,
  known: readonly string[],
): void {
  const isUnknown = (id: string, of: Configuration) => !modelNamed(of, id) && !known.includes(id);
  const at = configuration ? ids.findIndex((id) => isUnknown(id, configuration)) : -1;
  if (at < 0) return;
  const param = `models[${at}]`;
  const message = `${param} is not a model of this gateway.`;
  throw new GatewayError('model_not_found', message, { param });
}

function expiryOf(
  { expires, expires_in_s }: KeyTermInput,
  now_ms: number,
): number | null | undefined {
  if (expires_in_s !== undefined) {
    if (expires !== undefined) {
      throw invalid('expires', 'Send either expires or expires_in_s, not both.');
    }
    return expires_in_s === null ? null : now_ms + Math.round(expires_in_s * 1_000);
  }
  return typeof expires === 'string' ? readFuture('expires', expires, now_ms) : expires;
}

/**
 * Runs a change of a key in the store, and turns its refusals into errors of the API: of the field
 * that is most likely at fault.
 */
export async function changingKey<T>(change: KeyChange, work: () => Promise<T>): Promise<T> {
  const { allowances, limit_nano, max_active } = change;
  const other = limit_nano === undefined ? 'name' : 'limit';
  const amounts = allowances?.raise ? 'raise' : 'allowances';
  return asInvalid(allowances ? amounts : other, async () => {
    try {
      return await work();
    } catch (error) {
      throw refusal(error, max_active);
    }
  });
}

/** The error of the API where the account gets no key; any other error as it is. */
function refusal(error: unknown, max_active: number | undefined): unknown {
  if (error instanceof AccountSuspended) {
    return new GatewayError('account_suspended', error.message, { cause: error });
  }
  if (!(error instanceof TooManyKeys)) return error;
  const message = `An account has at most ${max_active} active keys: revoke one first.`;
  return new GatewayError('invalid_request', message, { cause: error });
}

/** The key of this ID that is not revoked, of this account where one is named. */
export async function liveKey(
  { store }: ActionServices,
  key_id: string,
  account_id: string | undefined,
): Promise<Key> {
  const key = await store.key(key_id);
  const isTheirs = account_id === undefined || key?.account_id === account_id;
  if (key && isTheirs && key.revoked_ms === null) return key;
  throw noKey(key_id);
}

export function noKey(key_id: string): NotThere {
  return new NotThere(
    'There is no such active key.',
    `there is no active key "${key_id}"; "tollgate key list ACCOUNT" shows them`,
  );
}

/** One sentence for each term that the key has. */
export function termSentences(key: Limited<Key>): string[] {
  const { expires_ms, models, limit_nano } = key;
  const sentences: string[] = [];
  if (expires_ms !== null) sentences.push(`It expires at ${isoTime(expires_ms)}.`);
  if (models) sentences.push(`It may use ${models.join(', ')} alone.`);
  if (limit_nano !== null) {
    sentences.push(`It may spend ${withDollarSign(formatDollars(limit_nano))} in all.`);
  }
  return [...sentences, ...limitSentences(key)];
}
