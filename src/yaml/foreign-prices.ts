import { isRecord } from '../lib/objects.js';
import { foreignKeyHint, foreignSpelling } from './foreign.js';

/** Words in keys such as `input_cost_per_token`, with the unit that has the same meaning here. */
const KINDS: readonly [words: readonly string[], ours: string][] = [
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
  [/batch_|_batch|flex_|priority_/, 'all calls have one price: remove this'],
  [/reasoning_|thinking_/, 'reasoning is charged as output: remove this'],
];

/** The hint for a price in the unit of another program; undefined for any other key. */
export function foreignPriceHint(written: string): string | undefined {
  const key = foreignSpelling(written);
  if (KINDS.some(([, ours]) => ours === key)) return undefined;
  const words = key.split('_');
  const other = OTHER_CLASSES.find(([form]) => form.test(key));
  if (other) return other[1];
  if (/_above|_over|long_(?!prompts?$)/.test(key)) return longPromptHint(key, words);
  const has = (...any: readonly string[]): boolean => any.some((word) => words.includes(word));
  const [, kind] = KINDS.find(([all]) => all.every((word) => words.includes(word))) ?? [];
  if (kind === undefined || !has('cost', 'price', 'per')) return undefined;
  const ours = has('audio') ? `audio_${kind}` : kind;
  if (has(...MILLION)) return `did you mean "${ours}"?`;
  if (has(...THOUSAND)) return `use ${ours} instead: multiply by 1000`;
  return has('token', 'tokens') ? `use ${ours} instead: multiply by 1000000` : undefined;
}

/** The hint for the price of a long prompt, whose length may stand in its key: `above_200k`. */
function longPromptHint(key: string, words: readonly string[]): string {
  if (/image|video|second|character/.test(key))
    return 'only tokens have prices by length: remove this';
  const [, thousands = '200'] = /(\d{1,4})k/.exec(key) ?? [];
  const [, kind = 'input_per_million'] =
    KINDS.find(([all]) => all.every((word) => words.includes(word))) ?? [];
  const ours = words.includes('audio') ? `audio_${kind}` : kind;
  const way = /per_(?:\w+_)?tokens?_/.test(key)
    ? ': multiply by 1000000'
    : ', in dollars for a million';
  return `use ${ours} in long_prompt: { above_tokens: ${thousands}000 } instead${way}`;
}

const CONVERSION = /^use (\w+) instead(?:, in dollars\b.*|: (multiply|divide)\b.*\bby ([\d.]+))$/;
/** What stands in a hint for the price of long prompts. */
const LONG = / in long_prompt: \{ above_tokens: (\d+) \}/;
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

/** A price as gateway.yaml writes it, and the length of the prompts above which it holds. */
interface Line {
  above_tokens: string | undefined;
  text: string;
}

/** The lines of a price. Those of long prompts stand in a block, of one length. */
function inBlocks(lines: readonly Line[]): string {
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
  const [, above_tokens] = LONG.exec(hint) ?? [];
  const [, ours, way, by = 1] = CONVERSION.exec(hint.replace(LONG, '')) ?? [];
  const isFigure = typeof value === 'number' || (typeof value === 'string' && value !== '');
  if (ours === undefined || !isFigure) return undefined;
  const amount = way === 'divide' ? Number(value) / Number(by) : Number(value) * Number(by);
  if (!(amount >= 0 && amount <= DEAREST)) return undefined;
  // The product of two floats may have digits that neither has.
  const digits = Number(amount.toPrecision(12)).toFixed(9);
  return { above_tokens, text: `${ours}: ${digits.replace(/\.?0+$/, '')}` };
}
