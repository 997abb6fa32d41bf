import { isRecord } from '../lib/objects.js';
import { foreignKeyHint, foreignSpelling } from './foreign.js';

/** Words in keys such as `input_cost_per_token`, with the unit that has the same meaning here. */
const KINDS: readonly [words: readonly string[], ours: string][] = [
  [['cache', 'creation', '1hr'], 'cache_write_1h_per_million'],
  [['cache', 'write', '1hr'], 'cache_write_1h_per_million'],
  [['cache', 'creation'], 'cache_write_per_million'],
  [['cache', 'write'], 'cache_write_per_million'],
  [['cache'], 'cached_input_per_million'],
  [['cached'], 'cached_input_per_million'],
  [['output'], 'output_per_million'],
  [['completion'], 'output_per_million'],
  [['input'], 'input_per_million'],
  [['prompt'], 'input_per_million'],
];

const THOUSAND = ['1k', '1000', 'k', 'thousand'];
const MILLION = ['1m', 'm', 'mtok', 'mtoken', 'mtokens', 'million', 'mio'];

/** Classes of tokens that have no price of their own. */
const OTHER_CLASSES: readonly [form: RegExp, hint: string][] = [
  [/batch_|_batch/, 'batches are not served, so they have no price: remove this'],
  [/reasoning_|thinking_/, 'reasoning is charged as output: remove this'],
];

/** A service tier in a key: `flex_input_cost`, `input_cost_per_token_priority`. */
const TIER = /^(flex|priority)_|_(flex|priority)(?=_|$)/;
/** Cache writes of an hour, which are no longer prompts. */
const HOUR = /_(?:above_)?1h(?:r|our)?(?=_|$)/;

/** The hint for a price in the unit of another program; undefined for any other key. */
export function foreignPriceHint(written: string): string | undefined {
  const spelt = foreignSpelling(written);
  if (KINDS.some(([, ours]) => ours === spelt)) return undefined;
  const other = OTHER_CLASSES.find(([form]) => form.test(spelt));
  if (other) return other[1];
  const [, first_tier, tier = first_tier] = TIER.exec(spelt) ?? [];
  const key = spelt.replace(TIER, '').replace(HOUR, '_1hr');
  const words = key.split('_');
  if (/_above|_over|long_(?!prompts?$)/.test(key)) return longPromptHint(key, words, tier);
  const has = (...any: readonly string[]): boolean => any.some((word) => words.includes(word));
  const kind = kindOf(words);
  if (kind === undefined || !has('cost', 'price', 'per')) return undefined;
  const ours = `${kind}${placeOf(tier)}`;
  if (has(...MILLION)) {
    return tier === undefined
      ? `did you mean "${ours}"?`
      : `use ${ours} instead, in dollars for a million`;
  }
  if (has(...THOUSAND)) return `use ${ours} instead: multiply by 1000`;
  return has('token', 'tokens') ? `use ${ours} instead: multiply by 1000000` : undefined;
}

function kindOf(words: readonly string[]): string | undefined {
  const [, kind] = KINDS.find(([all]) => all.every((word) => words.includes(word))) ?? [];
  if (kind !== 'input_per_million' && kind !== 'output_per_million') return kind;
  const of_class = ['audio', 'image'].find((word) => words.includes(word));
  return of_class === undefined ? kind : `${of_class}_${kind}`;
}

/** The block of a price for a tier, for long prompts or for both: ` in tiers: { flex: {} }`. */
function placeOf(tier: string | undefined, above_tokens?: string): string {
  const long = above_tokens === undefined ? '' : `long_prompt: { above_tokens: ${above_tokens} }`;
  if (tier === undefined) return long === '' ? '' : ` in ${long}`;
  return ` in tiers: { ${tier}: {${long === '' ? '' : ` ${long} `}} }`;
}

/** The hint for the price of a long prompt, whose length may stand in its key: `above_200k`. */
function longPromptHint(key: string, words: readonly string[], tier: string | undefined): string {
  if (/image(?!_token)|video|second|character/.test(key))
    return 'only tokens have prices by length: remove this';
  const [, thousands = '200'] = /(\d{1,4})k/.exec(key) ?? [];
  const ours = kindOf(words) ?? 'input_per_million';
  const way = /per_(?:\w+_)?tokens?_|token_cost/.test(key)
    ? ': multiply by 1000000'
    : ', in dollars for a million';
  return `use ${ours}${placeOf(tier, `${thousands}000`)} instead${way}`;
}

const CONVERSION = /^use (\w+) instead(?:, in dollars\b.*|: (multiply|divide)\b.*\bby ([\d.]+))$/;
/** What stands in a hint for the price of a tier, of long prompts or of both. */
const PLACE =
  / in (?:tiers: \{ (\w+): \{ ?)?(?:long_prompt: \{ above_tokens: (\d+) \}|\} \})(?: \} \})?/;
/** A price above it would be a slip, which a hint should not hide. */
const DEAREST = 1_000;

/**
 * A hint with the price that results from the value: `write per_image: 0.04`. Undefined for a hint
 * that is no conversion, and for a value that is no price.
 */
export function pricesHere(hint: string, value: unknown): string | undefined {
  if (!hint.includes('PRICES')) {
    const line = lineHere(hint, value);
    return line && `write ${inBlocks([line])}`;
  }
  const lines = Object.entries(isRecord(value) ? value : {}).map(([key, amount]) => {
    const kind = foreignKeyHint(key, 'PriceEntry', amount) ?? foreignPriceHint(key);
    return kind === undefined ? undefined : lineHere(kind, amount);
  });
  const known = lines.filter((line) => line !== undefined);
  const isWhole = lines.length > 0 && known.length === lines.length;
  return isWhole ? hint.replace('PRICES', inBlocks(known)) : undefined;
}

/** A price as gateway.yaml writes it, its tier, and the length of prompts above which it holds. */
interface Line {
  tier: string | undefined;
  above_tokens: string | undefined;
  text: string;
}

/** The lines of a price. Those of each tier stand in a block. */
function inBlocks(lines: readonly Line[]): string {
  const all = [inLengths(lines.filter(({ tier }) => tier === undefined))];
  const tiers = [...new Set(lines.flatMap(({ tier }) => tier ?? []))].map((name) => {
    return `${name}: { ${inLengths(lines.filter(({ tier }) => tier === name))} }`;
  });
  if (tiers.length > 0) all.push(`tiers: { ${tiers.join(', ')} }`);
  return all.filter((text) => text !== '').join(', ');
}

/** Those of long prompts stand in a block, of one length. */
function inLengths(lines: readonly Line[]): string {
  const long = lines.filter(({ above_tokens }) => above_tokens !== undefined);
  const short = lines.filter(({ above_tokens }) => above_tokens === undefined);
  const all = short.map(({ text }) => text);
  const length = long[0]?.above_tokens;
  if (length !== undefined) {
    const inner = long.filter((line) => line.above_tokens === length).map(({ text }) => text);
    all.push(`long_prompt: { above_tokens: ${length}, ${inner.join(', ')} }`);
  }
  return all.join(', ');
}

function lineHere(hint: string, value: unknown): Line | undefined {
  const [, tier, above_tokens] = PLACE.exec(hint) ?? [];
  const [, ours, way, by = 1] = CONVERSION.exec(hint.replace(PLACE, '')) ?? [];
  const isFigure = typeof value === 'number' || (typeof value === 'string' && value !== '');
  if (ours === undefined || !isFigure) return undefined;
  const amount = way === 'divide' ? Number(value) / Number(by) : Number(value) * Number(by);
  if (!(amount >= 0 && amount <= DEAREST)) return undefined;
  // The product of two floats may have digits that neither has.
  const digits = Number(amount.toPrecision(12)).toFixed(9);
  return { tier, above_tokens, text: `${ours}: ${digits.replace(/\.?0+$/, '')}` };
}
