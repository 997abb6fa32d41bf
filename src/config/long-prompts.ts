import { TOKEN_UNIT_FIELDS, type Price } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { quote, type Source } from '../yaml/source.js';
import type { ReadUpstream } from './upstreams.js';

/** Warns of prices of long prompts that no prompt pays, and of upstreams that lack them. */
export function checkLongPrompts(
  source: Source,
  at: string,
  context: number | undefined,
  upstreams: readonly ReadUpstream[],
): void {
  const payers = new Map(upstreams.map((one) => [one.price_at, one]));
  for (const [price_at, { upstream }] of payers) {
    const above_tokens = upstream.price.long_prompt?.above_tokens;
    if (above_tokens !== undefined) checkUnpaid(source, at, context, { price_at, above_tokens });
    else checkUncovered(source, price_at, context, upstreams);
  }
}

function checkUnpaid(
  source: Source,
  at: string,
  context: number | undefined,
  { price_at, above_tokens }: { price_at: string; above_tokens: number },
): void {
  const place = `${price_at}/long_prompt/above_tokens`;
  if (context === undefined || above_tokens < context || !source.has(place)) return;
  const none = `no prompt is above ${source.word(place)}`;
  source.fault(place, {
    code: 'unused_price',
    message: `long_prompt: ${none} where limits.context is ${source.word(`${at}/context`)}`,
    hint: 'correct one of the two, or remove long_prompt',
    severity: 'warning',
  });
}

/** Warns of long prompts that are charged as short ones where their list price is higher. */
function checkUncovered(
  source: Source,
  price_at: string,
  context = Infinity,
  upstreams: readonly ReadUpstream[],
): void {
  const payer = upstreams.find((one) => {
    const { price } = one.upstream;
    const long = one.listed?.price.long_prompt;
    if (one.price_at !== price_at || !one.listed || !long || price.free) return false;
    const isNear = isNearList(price, one.listed.price);
    return isNear && context > long.above_tokens && price.input_nano_per_million < inputOf(long);
  });
  const long = payer?.listed?.price.long_prompt;
  if (!payer?.listed || !long || source.text(price_at) === 'list') return;
  const { above_tokens } = long;
  const charged = `this model charges ${formatDollars(inputOf(payer.upstream.price))}`;
  const cost = `of ${quote(payer.listed.model)} cost ${formatDollars(inputOf(long))}`;
  const units = TOKEN_UNIT_FIELDS.flatMap(([unit, field]) => {
    const nano = long[field];
    const isSold = payer.upstream.price[field] !== undefined;
    return isSold && nano !== undefined ? [`${unit}: ${formatDollars(nano)}`] : [];
  });
  source.fault(price_at, {
    code: 'missing_price',
    message: `price: prompts above ${above_tokens} tokens ${cost}, and ${charged}`,
    hint: `add long_prompt: { above_tokens: ${above_tokens}, ${units.join(', ')} }`,
    severity: 'warning',
  });
}

function inputOf({ input_nano_per_million = 0n }: Partial<Price>): bigint {
  return input_nano_per_million;
}

/** Whether a price is near the list price; one that is far from it has a fault for that. */
function isNearList(price: Price, list: Price): boolean {
  return price.input_nano_per_million * 3n >= list.input_nano_per_million;
}
