import { textOfHours, tokenPrices } from '../../billing/price-shape.js';
import {
  TOKEN_UNIT_FIELDS,
  type Model,
  type Price,
  type TierPrices,
  type UnitPrices,
} from '../../core/model.js';
import { UNIT_WORDS } from '../views/request-cost.js';
import { formatExactAmount, formatCount } from './formatting.js';

type Fact = [name: string, value: string];

/** All prices of a model as text. */
export function pricesOf({ price }: Model): Fact[] {
  if (price.free) return [['Any call', 'free']];
  const tokens = tokenPrices(price).map(([unit, nano]): Fact => {
    return [UNIT_WORDS[unit], perMillion(nano)];
  });
  const calls = [...longPromptPrices(price), ...otherCards(price), ...callPrices(price)];
  return [...tokens, ...calls, ...unitPrices(price)];
}

/** The prices of what is not counted in tokens. */
function unitPrices(price: UnitPrices): Fact[] {
  const images = [...(price.per_image ?? [])].map(([kind, nano]): Fact => [
    kind === 'any' ? 'Image' : `Image, ${kind}`,
    formatExactAmount(nano),
  ]);
  const videos = [...(price.per_video_second ?? [])].map(([kind, nano]): Fact => [
    kind.replace('/audio', ', with sound').replace('/silent', ', silent'),
    `${formatExactAmount(nano)} a second`,
  ]);
  return [...images, ...videos, ...audioPrices(price)];
}

/** The prices of tiers and of hours, each behind what it is for. */
function otherCards({ tiers, off_peak }: Price): Fact[] {
  const facts = [...(tiers ?? [])].flatMap(([name, tier]) => {
    return [...blockPrices(tier, `tier ${name}`), ...longPromptPrices(tier, `tier ${name}, `)];
  });
  const hours = (off_peak ?? []).flatMap((block) => {
    const text = textOfHours(block);
    const units = unitPrices(block).map(([name, value]): Fact => [`${name}, ${text}`, value]);
    return [...blockPrices(block, text), ...units];
  });
  return [...facts, ...hours];
}

function callPrices({ per_tool_call, per_request }: Price): Fact[] {
  const facts = [...(per_tool_call ?? [])].map(([name, nano]): Fact => [
    `Call of ${name}`,
    formatExactAmount(nano),
  ]);
  if (per_request !== undefined) facts.push(['Request', formatExactAmount(per_request)]);
  return facts;
}

function perMillion(nano: bigint): string {
  return `${formatExactAmount(nano)} per million tokens`;
}

/** The prices that are other ones for a long prompt. */
function longPromptPrices({ long_prompt }: TierPrices, where = ''): Fact[] {
  if (!long_prompt) return [];
  const length = `prompt above ${formatCount(long_prompt.above_tokens)} tokens`;
  return blockPrices(long_prompt, where + length);
}

function blockPrices(prices: TierPrices, where: string): Fact[] {
  return TOKEN_UNIT_FIELDS.flatMap(([unit, field]): Fact[] => {
    const nano = prices[field];
    return nano === undefined ? [] : [[`${UNIT_WORDS[unit]}, ${where}`, perMillion(nano)]];
  });
}

/** Prices of speech and transcription, each of which is one number. */
function audioPrices({
  per_million_characters: characters,
  per_audio_minute: minute,
}: UnitPrices): Fact[] {
  const facts: Fact[] = [];
  if (characters !== undefined) {
    facts.push(['Speech', `${formatExactAmount(characters)} per million characters`]);
  }
  if (minute !== undefined) facts.push(['Transcription', `${formatExactAmount(minute)} a minute`]);
  return facts;
}

/** The price as a short text for lists. */
export function priceInShort({ price }: Model): string {
  if (price.free) return 'Free';
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  if (input > 0n || output > 0n) {
    if (price.input_only) return `${formatExactAmount(input)} in, per 1M tokens`;
    return `${formatExactAmount(input)} in · ${formatExactAmount(output)} out, per 1M tokens`;
  }
  const images = [...(price.per_image?.values() ?? [])];
  const seconds = [...(price.per_video_second?.values() ?? [])];
  if (images.length > 0) return `${between(images)} an image`;
  if (seconds.length > 0) return `${between(seconds)} a second`;
  return audioPrices(price)[0]?.[1] ?? '';
}

/** The limits of one request. */
export function limitsOf({ limits, capabilities }: Model): Fact[] {
  const { context, max_tokens, images, audio_seconds, video } = limits;
  const facts: [string, string | undefined][] = [
    ['Context', context === undefined ? undefined : `${formatCount(context)} tokens`],
    ['Output', max_tokens === undefined ? undefined : `${formatCount(max_tokens)} tokens`],
    ['Images', capabilities.has('image') ? `${images ?? 10} a request` : undefined],
    ['Audio', audio_seconds === undefined ? undefined : `${formatCount(audio_seconds)} seconds`],
    ['Length', video?.duration_seconds && `${video.duration_seconds} seconds`],
    ['Videos', video?.sample_count && `${video.sample_count} a request`],
    ['Resolutions', video?.resolutions?.join(', ')],
  ].map(([name, value]) => [String(name), value === undefined ? undefined : String(value)]);
  return facts.flatMap(([name, value]): Fact[] => (value === undefined ? [] : [[name, value]]));
}

function between(prices: readonly bigint[]): string {
  const sorted = [...prices].sort((a, b) => (a < b ? -1 : 1));
  const [lowest = 0n] = sorted;
  const highest = sorted.at(-1) ?? 0n;
  return lowest === highest
    ? formatExactAmount(lowest)
    : `${formatExactAmount(lowest)} to ${formatExactAmount(highest)}`;
}
