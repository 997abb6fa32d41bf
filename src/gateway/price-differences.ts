import { priceShape, textOfHours } from '../billing/price-shape.js';
import { costCard, type Model, type Price } from '../core/model.js';
import { amountsOf } from './margins.js';
import { isSameUpstream } from './value-differences.js';

/**
 * What a new configuration changes in the prices of a model, and in what its upstreams take, in
 * sentences. An upstream has sentences of its own where its prices are other ones than the model's.
 */
export function priceDifferences(before: Model, after: Model): string[] {
  const { id, price } = before;
  const own = before.upstreams.flatMap((upstream) => {
    const next = after.upstreams.find((one) => isSameUpstream(one, upstream));
    if (!next) return [];
    const name = `model ${id} at ${upstream.provider.name}`;
    const [was, is] = [upstream.price, next.price];
    const isShared = isEqual(was, price) && isEqual(is, after.price);
    return [...(isShared ? [] : cardDifferences(name, was, is)), ...costDifferences(name, was, is)];
  });
  return [...cardDifferences(`model ${id}`, price, after.price), ...own];
}

function isEqual(one: Price, other: Price): boolean {
  return JSON.stringify(priceShape(one)) === JSON.stringify(priceShape(other));
}

/** What an upstream takes, where that is or was another price than what accounts pay. */
function costDifferences(name: string, old: Price, now: Price): string[] {
  if (!old.cost && !now.cost) return [];
  return cardDifferences(`for the operator alone, ${name}`, costCard(old), costCard(now));
}

function cardDifferences(name: string, old: Price, now: Price): string[] {
  const [before, after] = [priceShape(old), priceShape(now)];
  if (before === 'free' && after === 'free') return [];
  if (after === 'free') return [`${name}: it had a price and is free now`];
  const news = amountsOf(after);
  if (before === 'free') {
    const prices = [...news].map(([unit, dollars]) => `${unit} ${dollars}`).join(', ');
    return [`${name}: it was free and has a price now, ${prices}`];
  }
  const olds = amountsOf(before);
  const units = [...new Set([...olds.keys(), ...news.keys()])];
  const changes = units.map((unit) =>
    unitDifference(unit, amountOf(unit, olds), amountOf(unit, news)),
  );
  const length = lengthDifference(old.long_prompt?.above_tokens, now.long_prompt?.above_tokens);
  const texts = [...changes, length, hoursDifference(hoursOf(old), hoursOf(now))];
  return texts.flatMap((text) => (text === undefined ? [] : [`${name}: ${text}`]));
}

function lengthDifference(old?: number, now?: number): string | undefined {
  if (old === undefined || now === undefined || old === now) return undefined;
  return `prompts above ${now} tokens cost more now, above ${old} before`;
}

function hoursOf({ off_peak }: Price): string | undefined {
  return off_peak?.map(textOfHours).join('; ');
}

function hoursDifference(old?: string, now?: string): string | undefined {
  if (old === undefined || now === undefined || old === now) return undefined;
  return `off_peak is ${now} now, ${old} before`;
}

function unitDifference(unit: string, old?: string, now?: string): string | undefined {
  if (old === now) return undefined;
  if (old !== undefined && now !== undefined) {
    return `${unit} ${change(Number(old), Number(now))}, from ${old} to ${now}`;
  }
  // The one price of all images gives way to prices by size or quality, or takes their place.
  if (unit === EVERY_IMAGE) return undefined;
  if (old === undefined) return `${unit} has a price of its own now, ${now}`;
  return `${unit} has no price of its own any more, ${old} before`;
}

const EVERY_IMAGE = 'per_image any';

/** What a class of tokens, or an image, pays where it has no price of its own. */
const PAYS_AS: Readonly<Record<string, string>> = {
  cached_input_per_million: 'input_per_million',
  cache_write_per_million: 'input_per_million',
  cache_write_1h_per_million: 'cache_write_per_million',
  audio_input_per_million: 'input_per_million',
  image_input_per_million: 'input_per_million',
  audio_output_per_million: 'output_per_million',
  image_output_per_million: 'output_per_million',
};

function amountOf(unit: string, amounts: ReadonlyMap<string, string>): string | undefined {
  const [, plain_unit] =
    /^(?:tiers \S+|off_peak.*?) ((?:long_prompt |\S+_per_million|per_).*)$/u.exec(unit) ?? [];
  if (plain_unit !== undefined) return amounts.get(unit) ?? amountOf(plain_unit, amounts);
  const [, long_unit] = /^long_prompt (.+)$/u.exec(unit) ?? [];
  if (long_unit !== undefined) return amounts.get(unit) ?? longAmount(long_unit, amounts);
  const [, kind = ''] = /^per_image (.+)$/u.exec(unit) ?? [];
  const wider = kind.split('/').map((part) => `per_image ${part}`);
  const names = kind === '' ? payingUnits(unit) : [unit, ...wider, EVERY_IMAGE];
  for (const name of names) {
    const amount = amounts.get(name);
    if (amount !== undefined) return amount;
  }
  return undefined;
}

/** The price behind a long prompt that has none of its own: of its class, of input or output. */
function longAmount(unit: string, amounts: ReadonlyMap<string, string>): string | undefined {
  const names = payingUnits(unit).flatMap((one) => [`long_prompt ${one}`, one]);
  const name = names.find((one) => amounts.has(one));
  return name === undefined ? undefined : amounts.get(name);
}

/** A unit, and those whose price it has where it has none of its own, nearest first. */
function payingUnits(unit: string): string[] {
  const wider = PAYS_AS[unit];
  return wider === undefined ? [unit] : [unit, ...payingUnits(wider)];
}

/** `up by 20 %`, `down by 5 %`. */
function change(before: number, after: number): string {
  if (before === 0) return 'is no longer free';
  const percent = Number(((Math.abs(after - before) / before) * 100).toPrecision(3));
  return `${after > before ? 'up' : 'down'} by ${percent} %`;
}
