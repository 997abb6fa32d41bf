import { isListPrice } from '../config/price-terms.js';
import type { FinishedFile } from '../config/load.js';
import type { ReadUpstream } from '../config/upstreams.js';
import { formatDollars } from '../lib/money.js';
import { memoizeByObject } from '../lib/objects.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { Advice, Warning } from './advice.js';
import { boundsOf, isOwnServer, paidPrices, referenceOf } from './price-compare.js';
import type { Amount, PaidPrice, Payer } from './price-compare.js';

/** An amount beside the reference that is nearest to it. */
interface Compared extends Amount {
  payer: Payer;
  model: string;
  date: string;
  list: number;
  /** 3 for three times the reference, 1/3 for a third of it, 1 for one within its bounds. */
  ratio: number;
  far: number;
}

/** Prices of one model that are wrong in the same way. */
interface Finding {
  id: string;
  amounts: readonly [Compared, ...Compared[]];
  /** The mistake that it looks like; empty for none in particular. */
  like: string;
}

export const offListPrice: Advice = {
  code: 'price_off_list',
  saves: 'each call of a model whose price has a slip, in any unit, at any provider',
  *check(view) {
    const groups: Finding[][] = [];
    for (const paid of paidPrices(view)) {
      const findings = findingsIn(view)(paid);
      // Without a reference of the first upstream, the price is most likely meant for that one.
      const isUnlike = findings.every(({ like }) => like === '');
      const isForOther = isUnlike && paid.payers[0]?.reference === undefined;
      yield* lossesOf(paid, isForOther);
      if (!isForOther) for (const finding of findings) addToAlike(groups, finding);
    }
    // A margin on everything is one decision, and a slip in everything one mistake.
    for (const [first, ...others] of groups) if (first) yield told(view.source, first, others);
  },
};

const findingsIn = memoizeByObject(({ source }: FinishedFile) =>
  memoizeByObject((paid: PaidPrice) => findingsOf(source, paid)),
);

function findingsOf(source: Source, { id, price, amounts, payers }: PaidPrice): Finding[] {
  const known = amounts.filter(({ place, dollars }) => {
    // What could not be read counts as 0, and has a fault of its own.
    return dollars > 0 || Number(source.text(place) || NaN) === 0;
  });
  const compared = known.flatMap((amount) => nearest(amount, payers) ?? []);
  const like = wholeLike(compared, payers[0]?.reference !== undefined);
  const found = new Map<string, Compared[]>();
  for (const one of compared) {
    const { unit, ratio, dollars } = one;
    // Above the list, but far below other input: most likely it is sold with the same profit.
    const input = Number(price.input_nano_per_million) / 1e9;
    const isSaved = unit === CACHED && ratio > 1 && dollars * 2 <= input;
    const isMain = unit === 'input_per_million' || unit === 'output_per_million';
    const isPart = like === SWAPPED ? isMain : like !== '';
    if (isSaved || (!isFar(one) && !isPart)) continue;
    const own = isPart ? like : asIf(unit, ratio);
    const key = own || inWords(ratio);
    found.set(key, [...(found.get(key) ?? []), one]);
  }
  return [...found.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const own = like === SWAPPED || like === '' ? asIf(first.unit, first.ratio) : like;
    const isTurned = like === SWAPPED && others.length > 0;
    return [{ id, amounts: [first, ...others] as const, like: isTurned ? SWAPPED : own }];
  });
}

/** The comparison with the reference that is nearest to an amount, of all upstreams paid by it. */
function nearest(amount: Amount, payers: readonly Payer[]): Compared | undefined {
  const all = payers.flatMap((payer) => comparedWith(amount, payer) ?? []);
  return all.toSorted((a, b) => farness(a.ratio) - farness(b.ratio))[0];
}

function comparedWith(amount: Amount, payer: Payer): Compared | undefined {
  const { reference } = payer;
  const [low, high] = (reference && boundsOf(reference, amount)) ?? [0, 0];
  if (!reference || low === 0) return undefined;
  const { dollars } = amount;
  const list = dollars > high ? high : low;
  const ratio = dollars > high || dollars < low ? dollars / list : 1;
  const { model, date, far } = reference;
  return { ...amount, payer, model, date, list, ratio, far };
}

/** A third of the list is a loss already, and three times the list may be meant. */
function isFar({ ratio, far }: Compared): boolean {
  return farness(ratio) > far || Math.abs(ratio * far - 1) < 1e-9;
}

/** 3 for a ratio of 3 and for one of 1/3. */
function farness(ratio: number): number {
  return Math.max(ratio, 1 / ratio);
}

const CACHED = 'cached_input_per_million';
const SWAPPED = ', as if input and output were swapped';
const BATCH = ', as if calls went in batches';
const LOSS = ', so each call is a loss';

/** How far the shares of a deliberate discount may be from each other, by rounding. */
const SAME_SHARE = 1.05;

/** The mistake that all amounts of a price look like together; a loss only if `isForFirst`. */
function wholeLike(all: readonly Compared[], isForFirst: boolean): string {
  const [input, output] = ['input', 'output'].map((name) => {
    return all.find(({ unit }) => unit === `${name}_per_million`);
  });
  if (input && output && input.list !== output.list) {
    const isNear = (one: number, other: number): boolean => farness(one / other) < SAME_SHARE;
    if (isNear(input.dollars, output.list) && isNear(output.dollars, input.list)) return SWAPPED;
  }
  const ratios = all.map(({ ratio }) => ratio);
  const isLow =
    all.length > 1 &&
    all.every(({ unit, ratio, far }) => {
      return ratio > 0 && ratio <= 0.5 && far <= 3 && asIf(unit, ratio) === '';
    });
  if (!isLow) return '';
  // One share of all is a discount that the operator gives; of a half it is that of batches.
  if (ratios.every((ratio) => ratio === 0.5)) return BATCH;
  const isUneven = Math.max(...ratios) > Math.min(...ratios) * SAME_SHARE;
  return isUneven && isForFirst ? LOSS : '';
}

/** The mistake that a ratio looks like: a price for another number of tokens, or in cents. */
function asIf(unit: string, ratio: number): string {
  const isNear = (of: number): boolean => ratio > of / 3 && ratio < of * 3;
  if (unit === 'per_audio_minute' && farness(ratio / 60) < 1.5) return ', as if for an hour';
  if (isNear(100)) return ', as if in cents';
  if (!unit.endsWith('_per_million')) return '';
  if (isNear(1e-6)) return ', as if for one token';
  if (isNear(1e-3)) return ', as if for a thousand tokens';
  return isNear(1_000) ? ', as if for a billion tokens' : '';
}

function inWords(ratio: number): string {
  if (ratio === 0) return 'far below';
  const times = Number(farness(ratio).toPrecision(2));
  return ratio > 1 ? `${times} times` : `1/${times} of`;
}

/**
 * The upstreams that cost many times what is charged, where the price is near the reference of
 * another one, or `isForOther`; of each the amount that loses the most.
 */
function* lossesOf({ amounts, payers }: PaidPrice, isForOther: boolean): Iterable<Warning> {
  const paid = amounts.filter(({ dollars }) => dollars > 0);
  for (const payer of payers) {
    const lost = paid.flatMap((amount) => {
      const near = nearest(amount, payers);
      const one = comparedWith(amount, payer);
      const isElsewhere = isForOther || (near !== undefined && !isFar(near));
      return one && one.ratio < 1 && isFar(one) && isElsewhere ? [one] : [];
    });
    const [loss] = lost.toSorted((a, b) => b.list - b.dollars - (a.list - a.dollars));
    if (!loss) continue;
    const { unit, model } = loss;
    const cost = dollarsOf(loss.list);
    const charged = `this model charges ${dollarsOf(loss.dollars)}`;
    const own = payer.at.listed ? 'price: list' : `a price such as ${unit}: ${cost}`;
    yield {
      pointer: payer.at.pointer,
      message: `${unit}: ${quote(model)} costs ${cost}, and ${charged}`,
      hint: `write ${own} at this upstream, or leave it if the loss is meant`,
    };
  }
}

/** Adds a finding to those of other models that are wrong by the same factor. */
function addToAlike(groups: Finding[][], finding: Finding): void {
  const [{ ratio }] = finding.amounts;
  const same = groups.find(([first]) => {
    if (!first || first.like !== finding.like) return false;
    const [{ ratio: other }] = first.amounts;
    return first.id !== finding.id && (ratio === other || farness(ratio / other) < 1.1);
  });
  if (same) same.push(finding);
  else groups.push([finding]);
}

function told(source: Source, { amounts, like }: Finding, others: readonly Finding[]): Warning {
  const [first] = amounts;
  const units = amounts.map(labelOf).join(' and ');
  const lists = amounts.map(({ list }) => dollarsOf(list));
  const shares = [...new Set(amounts.map(({ ratio }) => inWords(ratio)))].join(' and ');
  const ratios = like === LOSS ? 'at most half of' : shares;
  const isMany = amounts.length > 1;
  const known = first.payer.reference?.listed ? 'list price' : 'usual price';
  const verb = isMany ? `${units} are` : `${units}: ${source.word(first.place)} is`;
  const list = `the ${known}${isMany ? 's' : ''} of ${quote(first.model)}`;
  const also = others.length > 0 ? `; so it is at ${namesOf(others)}` : '';
  const whole = amounts
    .map(({ unit, kind }, i) => `${isKind(kind) ? kind : unit}: ${lists[i]}`)
    .join(', ');
  const right = isMany ? `{ ${whole} }` : lists[0];
  const isListed = first.payer.at.listed !== undefined;
  const way = isListed ? `${right} or price: list (${first.date})` : right;
  const isZero = amounts.some(({ dollars }) => dollars === 0);
  const meant = isZero ? 'price: free' : 'leave yours';
  return {
    pointer: first.place,
    message: `${verb} ${ratios} ${list}, ${lists.join(' and ')}${like}${also}`,
    hint: `write ${way}, or ${meant} if it is meant`,
  };
}

function labelOf({ unit, kind }: Amount): string {
  return isKind(kind) ? `${unit} ${kind.replace('/', ' ')}` : unit;
}

/** Whether a price is for one kind of images or videos alone. */
function isKind(kind: string): boolean {
  return kind !== '' && kind !== 'any';
}

/** The first few models, and the number of the others. */
function namesOf(findings: readonly { id: string }[]): string {
  const names = [...new Set(findings.map(({ id }) => quote(id)))];
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return names.slice(0, 3).join(', ') + more;
}

function dollarsOf(dollars: number): string {
  return formatDollars(BigInt(Math.round(dollars * 1e9)));
}

export const freeModel: Advice = {
  code: 'price_off_list',
  saves: 'the cost of a free model at an upstream that is paid',
  *check(view) {
    const { source, models } = view;
    // Providers do not charge for moderation.
    const free = models.filter(({ model }) => {
      return model.price.free && !model.capabilities.has('moderation');
    });
    const given: { id: string; cost: string }[] = [];
    for (const { model, upstreams } of free) {
      const paid = upstreams.filter((one) => isPaid(view, model.id, one));
      const [first] = paid;
      if (!first || source.text(`/models${join(model.id)}/price`) !== 'free') continue;
      if (paid.length < upstreams.length) {
        yield* paid.map((one) => mixedPrice(view, model.id, one));
      } else {
        const main = mainPrices(view, model.id, first);
        if (!isKnown(view, model.id, first)) continue;
        const dollars = main.map(([, amount]) => amount).join(' and ');
        const cost = main.length > 0 ? `costs ${dollars} per million tokens` : 'costs money';
        given.push({ id: model.id, cost: `${quote(first.upstream.model)} ${cost}` });
      }
    }
    // Where nothing has a price, the operator means to charge nobody.
    const [first, ...others] = given;
    if (!first || (others.length > 0 && free.length === models.length)) return;
    const also = others.length > 0 ? `; so it is at ${namesOf(others)}` : '';
    yield {
      pointer: `/models${join(first.id)}/price`,
      message: `price: this model is free, and ${first.cost}${also}`,
      hint: 'write its price, or price: list, or leave it if you mean to pay for all calls',
    };
  },
};

/** Whether a provider is known to charge for the model: by a price, or by a list of its own. */
function isKnown(view: FinishedFile, id: string, one: ReadUpstream): boolean {
  const { provider } = one.upstream;
  const reference = referenceOf(view, id, one);
  return reference !== undefined || view.prices.has(provider.manifest);
}

/** Whether a call costs: by a known price, or by a key for the usual address of the provider. */
function isPaid(view: FinishedFile, id: string, one: ReadUpstream): boolean {
  const { source } = view;
  const { provider, model } = one.upstream;
  if (isOwnServer(source, one)) return false;
  if (model.endsWith('free')) return false;
  const hasKey = source.has(`/providers${join(provider.name)}/api_key`);
  return isKnown(view, id, one) || (hasKey && one.read.manifest.data.base_url !== undefined);
}

function mainPrices(view: FinishedFile, id: string, one: ReadUpstream): [string, string][] {
  const { amounts } = referenceOf(view, id, one) ?? { amounts: new Map<string, never>() };
  return [...amounts].flatMap(([unit, [low]]) => {
    return /^(?:in|out)put_per_million$/.test(unit) ? [[unit, dollarsOf(low)]] : [];
  });
}

/** Warns of an upstream that costs something, where the model is free for another one's sake. */
function mixedPrice(view: FinishedFile, id: string, one: ReadUpstream): Warning {
  const main = mainPrices(view, id, one);
  const prices = main.map(([unit, amount]) => `${unit}: ${amount}`).join(', ');
  const which = prices === '' ? 'the prices of this upstream' : `price: { ${prices} }`;
  return {
    pointer: one.pointer,
    message: `${quote(one.upstream.model)} costs money here, and the model is free in any case`,
    hint: `write ${which} at the model in place of free, or leave it if it is meant`,
  };
}

export const dearTier: Advice = {
  code: 'price_off_list',
  saves: 'calls of a faster tier that are sold at the list price',
  *check({ source, models }) {
    for (const { pointer, upstream, price_at } of models.flatMap((model) => model.upstreams)) {
      const place = `${pointer}/set/service_tier`;
      const isDear = upstream.set.service_tier === 'priority' && source.has(place);
      if (!isDear || !isListPrice(source, price_at)) continue;
      const tier = 'service_tier: "priority" costs more than the list price';
      yield {
        pointer: place,
        message: `${tier}, which this model charges`,
        hint: 'write prices that cover it in place of list, or remove it',
      };
    }
  },
};

/** The units of a price that are far from their reference, of which this rule warns. */
export function farUnits(view: FinishedFile, paid: PaidPrice): ReadonlySet<string> {
  const all = findingsIn(view)(paid).flatMap(({ amounts }) => amounts);
  return new Set(all.map(({ unit }) => unit));
}
