import { setInput, type Action, type Field } from '../actions/action.js';
import { isScope, SCOPE_NAMES } from '../core/scopes.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { parseDuration } from '../yaml/units.js';
import { UsageError } from './command.js';
import { dollars } from './dollars.js';
import { modelIds } from './entry-names.js';

const MIN_MS = 1_000;
const MAX_MS = 10 * 365 * 86_400_000;

/** Gathers scopes: the option may be repeated, and each value may hold several, by commas. */
export function gatherScopes(value: string, previous: unknown = []): string[] {
  return [...(previous as string[]), ...value.split(',').map((word) => word.trim())];
}

/**
 * The typed values of the fields of an action, as its input has them. An account is still the name
 * or the ID that was typed. Throws `UsageError` for a value that is invalid.
 */
export async function readTyped(
  { fields = {}, takes_none }: Pick<Action, 'fields' | 'takes_none'>,
  typed: ReadonlyMap<string, unknown>,
  config: string,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = typed.get(name);
    if (value === undefined) continue;
    const words: unknown[] = [value].flat();
    const isNone = takes_none && TAKEN_AWAY.has(field.type) && words.join() === NONE;
    setInput(input, name, isNone ? null : await READERS[field.type](value, config));
  }
  return input;
}

/** The word that takes a term away. */
const NONE = 'none';

const TAKEN_AWAY = new Set<Field['type']>(['dollars', 'lifetime', 'models', 'rate']);

type Reader = (typed: unknown, config: string) => unknown;

const READERS: Record<Field['type'], Reader> = {
  text: (typed) => typed,
  flag: (typed) => typed,
  account: (typed) => typed,
  dollars(typed) {
    dollars(String(typed));
    return typed;
  },
  lifetime: (typed) => lifetimeOf(String(typed)),
  models: (typed, config) => knownModels(typed as string[], config),
  scopes: (typed) => knownScopes(typed as string[]),
  allowances: (typed) => Object.fromEntries((typed as string[]).map(amountByWindow)),
  rate: (typed) => rateOf(String(typed)),
  raise(typed) {
    const [window, amount] = amountByWindow(String(typed));
    return { window, by: amount ?? '0' };
  },
  until: (typed) => timeOf(String(typed)),
};

/** `day=5.00`; `day=none` takes the allowance away. */
function amountByWindow(text: string): [window: string, amount: string | null] {
  const [window = '', amount, ...others] = text.split('=');
  if (amount === undefined || others.length > 0) {
    throw new UsageError(`"${text}" is not a window and an amount, such as day=5.00`);
  }
  if (amount === NONE) return [window, null];
  dollars(amount);
  return [window, amount];
}

function rateOf(text: string): number {
  const rate = /^\d{1,15}$/u.test(text) ? Number(text) : 0;
  if (rate > 0) return rate;
  throw new UsageError(`"${text}" is not a rate: write a whole number above zero`);
}

/** A time, or a duration from now, as a time. */
function timeOf(text: string): string {
  const ms = parseDuration(text);
  return ms === undefined ? text : new Date(Date.now() + ms).toISOString();
}

/** In seconds. */
function lifetimeOf(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= MIN_MS && ms <= MAX_MS) return ms / 1_000;
  throw new UsageError(`"${text}" is not a time from 1s to 3650d, such as 12h or 30d`);
}

async function knownModels(ids: string[], config: string): Promise<string[]> {
  const known = await modelIds(config);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return ids;
  throw new UsageError(`there is no model "${unknown}" in ${config}; ${nameHint(unknown, known)}`);
}

function knownScopes(words: string[]): string[] {
  const unknown = words.find((word) => !isScope(word));
  if (unknown === undefined) return words;
  throw new UsageError(`there is no scope "${unknown}"; ${nameHint(unknown, SCOPE_NAMES)}`);
}
