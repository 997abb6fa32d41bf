import { formatDollars } from '../lib/money.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { parseDuration } from '../yaml/units.js';
import { UsageError } from './command.js';
import { dollars } from './dollars.js';
import { withDollarSign, formatTime } from './print.js';
import type { Key, KeyTerms } from '../store/keys/keys.js';
import { modelIds } from './entry-names.js';

/** The terms of a key as they were typed. */
export interface TypedTerms {
  expires?: string;
  model?: string[];
  limit?: string;
}

const MIN_MS = 1_000;
const MAX_MS = 10 * 365 * 86_400_000;

/** Throws `UsageError` for an invalid time or amount, and for an unknown model. */
export async function termsOf(typed: TypedTerms, config: string): Promise<KeyTerms> {
  const terms: KeyTerms = {};
  if (typed.expires !== undefined) terms.expires_ms = expiryOf(typed.expires);
  if (typed.limit !== undefined) terms.limit_nano = dollars(typed.limit);
  if (typed.model) {
    const known = await modelIds(config);
    for (const id of typed.model) {
      if (known.includes(id)) continue;
      throw new UsageError(`there is no model "${id}" in ${config}; ${nameHint(id, known)}`);
    }
    terms.models = typed.model;
  }
  return terms;
}

/** When a duration from now ends, in ms since 1970. Throws `UsageError` for an invalid one. */
export function expiryOf(text: string): number {
  return Date.now() + lifetime(text);
}

function lifetime(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= MIN_MS && ms <= MAX_MS) return ms;
  throw new UsageError(`"${text}" is not a time from 1s to 3650d, such as 12h or 30d`);
}

/** One sentence for each term that the key has. */
export function termSentences({ expires_ms, models, limit_nano }: Key): string[] {
  const sentences: string[] = [];
  if (expires_ms !== null) sentences.push(`It expires at ${formatTime(expires_ms)}.`);
  if (models) sentences.push(`It may use ${models.join(', ')} alone.`);
  if (limit_nano !== null) {
    sentences.push(`It may spend ${withDollarSign(formatDollars(limit_nano))} in all.`);
  }
  return sentences;
}
