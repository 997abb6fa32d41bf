import type { Field } from '../actions/action.js';
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
  fields: Readonly<Record<string, Field>>,
  typed: ReadonlyMap<string, unknown>,
  config: string,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [name, { type }] of Object.entries(fields)) {
    const value = typed.get(name);
    if (value !== undefined) input[name] = await READERS[type](value, config);
  }
  return input;
}

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
};

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
