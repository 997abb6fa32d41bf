import { callsCost, eachPricedClass } from '../../billing/bill.js';
import { cardOf, cardsOf } from '../../billing/rate-card.js';
import type { Price, TokenUnit } from '../../core/model.js';
import type { RequestRecord } from '../../core/request-record.js';
import { hasTokens, type TokenUsage } from '../../core/usage.js';

/** The units of tokens as pages name them. */
export const UNIT_WORDS: Record<TokenUnit, string> = {
  input_per_million: 'Input',
  cached_input_per_million: 'Cached input',
  cache_write_per_million: 'Cache writes',
  cache_write_1h_per_million: 'Cache writes for an hour',
  audio_input_per_million: 'Audio input',
  image_input_per_million: 'Image input',
  output_per_million: 'Output',
  audio_output_per_million: 'Audio output',
  image_output_per_million: 'Image output',
};

/** A part of a cost: so many of a unit, at this price. */
export interface CostLine {
  name: string;
  count: number;
  /** For a million tokens, or for one of another unit. */
  price_nano: bigint;
  /** Whether the price is that of a million. */
  by_million: boolean;
  /** Rounded down; only the sum of all lines is rounded up. */
  cost_nano: bigint;
}

/** How a charge came about. */
export interface RequestCost {
  /** Empty if no known price explains the cost. */
  lines: CostLine[];
  /** The whole cost, with the part that could not be collected. */
  total_nano: bigint;
}

const MILLION = 1_000_000n;
/** Seconds of audio are counted to the millisecond. */
const THOUSAND = 1_000;

/**
 * Explains the cost of a request by the first price that yields the charge. A rest that the tokens
 * do not explain is spread over the other units, such as images. So is the whole cost of a request
 * without tokens, such as one for a video.
 */
export function costOf(record: RequestRecord, known: readonly Price[]): RequestCost {
  const total_nano = record.cost_nano + record.uncollected_nano;
  if (total_nano === 0n) return { lines: [], total_nano };
  if (!hasTokens(record) && record.units) {
    const line = unitLine(record, total_nano);
    return { lines: line ? [line] : [], total_nano };
  }
  const usage = usageOf(record);
  const cards = known.flatMap((price) => cardsOfRequest(price, record.time_ms, usage));
  const costWith = (card: Price): bigint => callsCost([{ usage, card }]);
  const fitting = cards.find((one) => costWith(one) === total_nano);
  if (fitting) return { lines: cardLines(usage, fitting), total_nano };
  for (const one of cards) {
    const rest = unitLine(record, total_nano - costWith(one));
    if (rest) return { lines: [...cardLines(usage, one), rest], total_nano };
  }
  return { lines: [], total_nano };
}

/**
 * The likeliest card first: that of the time. Another tier may have answered, the call may have
 * begun later, and a prompt that was read several times may have been a short one.
 */
function cardsOfRequest(price: Price, began_ms: number, { prompt_tokens }: TokenUsage): Price[] {
  const likely = cardOf(price, { began_ms, prompt_tokens });
  return [likely, ...cardsOf(price, { tier: undefined, prompt_tokens })];
}

function usageOf(record: RequestRecord): TokenUsage {
  return {
    prompt_tokens: record.prompt_tokens ?? 0,
    completion_tokens: record.completion_tokens ?? 0,
    cached_tokens: record.cached_tokens ?? 0,
    cache_write_tokens: record.cache_write_tokens ?? 0,
    cache_write_1h_tokens: record.cache_write_1h_tokens ?? 0,
    audio_input_tokens: record.audio_input_tokens ?? 0,
    image_input_tokens: record.image_input_tokens ?? 0,
    audio_output_tokens: record.audio_output_tokens ?? 0,
    image_output_tokens: record.image_output_tokens ?? 0,
    tool_calls: record.units ?? {},
  };
}

/** A line for each thing that costs something by the card. */
function cardLines(usage: TokenUsage, card: Price): CostLine[] {
  const lines = tokenLines(usage, card);
  for (const [name, price_nano] of card.per_tool_call ?? []) {
    lines.push(lineOf(`Calls of ${name}`, usage.tool_calls?.[name] ?? 0, price_nano));
  }
  lines.push(lineOf('Fee of the call', 1, card.per_request ?? 0n));
  return lines.filter(({ cost_nano }) => cost_nano > 0n);
}

function lineOf(name: string, count: number, price_nano: bigint): CostLine {
  return { name, count, price_nano, by_million: false, cost_nano: BigInt(count) * price_nano };
}

/** A line for each class of tokens that costs something. */
function tokenLines(usage: TokenUsage, card: Price): CostLine[] {
  const lines: CostLine[] = [];
  eachPricedClass(usage, card, (unit, count, price_nano) => {
    if (count <= 0 || price_nano <= 0n) return;
    const cost_nano = (BigInt(count) * price_nano) / MILLION;
    lines.push({ name: UNIT_WORDS[unit], count, price_nano, by_million: true, cost_nano });
  });
  return lines;
}

const UNITS: Record<string, string> = {
  images: 'Images',
  characters: 'Characters',
  audio_seconds: 'Seconds of audio',
  video_seconds: 'Seconds of video',
};

/** The line for a unit other than tokens; undefined unless there is exactly one such unit. */
function unitLine({ units }: RequestRecord, rest_nano: bigint): CostLine | undefined {
  const counts = Object.entries(units ?? {}).filter(([, count]) => count > 0);
  const [first] = counts;
  if (!first || counts.length > 1 || rest_nano <= 0n) return undefined;
  const [unit, count] = first;
  const thousandths = Math.round(count * THOUSAND);
  if (!Number.isSafeInteger(thousandths) || thousandths === 0) return undefined;
  const name = UNITS[unit] ?? unit;
  const price_nano = (rest_nano * BigInt(THOUSAND)) / BigInt(thousandths);
  return { name, count, price_nano, by_million: false, cost_nano: rest_nano };
}
