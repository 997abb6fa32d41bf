import { EXPORT_CLASSES, PART_OF, type ExportClass } from '../core/provider-export.js';
import { formatDollars, withDollarSign } from '../lib/money.js';
import {
  allTokens,
  isRounding,
  outputTokens,
  promptTokens,
  wholeOfDays,
  type Billed,
  type BilledDay,
} from './bill-figures.js';

export type CauseName =
  | 'calls_outside'
  | 'aborted_calls'
  | 'estimates'
  | 'missing_in_export'
  | 'class_without_price'
  | 'stale_price'
  | 'other_counts';

/** A likely cause of a difference, with the days that have it. */
export interface Cause {
  cause: CauseName;
  /** What it explains of the bill's surplus, in dollars; null where the export has no costs. */
  difference: string | null;
  first_day: string;
  last_day: string;
  days: number;
  text: string;
}

/** What the export tells: costs alone, tokens alone, or both, and the number of calls. */
export interface ExportFacts {
  classes: readonly ExportClass[];
  /** The classes that it has costs of. */
  costed: readonly ExportClass[];
  has_costs: boolean;
  has_calls: boolean;
}

/** Nano-dollars a million by class, as the configuration has them; a class may have none. */
export type PriceByClass = Partial<Record<ExportClass, bigint>>;

const CENT = 10_000_000n;
/** A day's price differs if it moves the cost by more than a share of 1/200. */
const PRICE_SHARE = 200n;
const MILLION = 1_000_000n;
/** An estimate is seldom off by more than this many times its own tokens. */
const ESTIMATE_FACTOR = 3;

interface Sum {
  nano: bigint;
  days: BilledDay[];
  classes: Set<ExportClass>;
}

/**
 * The likeliest causes of the differences of one model, the most costly first. Each day has a cause
 * for calls or tokens that only one side has, and one for a price, where the same tokens cost
 * something else.
 */
export function causesOf(
  days: readonly BilledDay[],
  facts: ExportFacts,
  price: PriceByClass | undefined,
): Cause[] {
  const sums = new Map<CauseName, Sum>();
  const note = (
    cause: CauseName,
    day: BilledDay,
    nano: bigint,
    classes: readonly ExportClass[] = [],
  ): void => {
    const sum: Sum = sums.get(cause) ?? { nano: 0n, days: [], classes: new Set() };
    sums.set(cause, sum);
    sum.nano += nano;
    sum.days.push(day);
    for (const name of classes) sum.classes.add(name);
  };
  const whole = wholeOfDays(days);
  const uncounted = uncountedClasses(whole, facts);
  const isWithoutTokens = facts.classes.length === 0;
  const isRepriced = isWithoutTokens && hasOtherPrice(days, facts, price);
  for (const day of days) {
    const difference_nano = day.billed.cost_nano - day.charged.cost_nano;
    const isOfClass = isWithoutTokens && uncounted.some((name) => isBilled(day, name));
    const volume = isRepriced || isOfClass ? undefined : volumeCause(day, facts);
    const volume_nano = volume ? volumeNano(day, difference_nano, price, facts) : 0n;
    if (volume) note(volume, day, volume_nano);
    const price_nano = difference_nano - volume_nano;
    if (!facts.has_costs || !isPriceDifference(price_nano, day)) continue;
    const classes = suspectClasses(day, price_nano, uncounted, facts, price);
    note(classes.length > 0 ? 'class_without_price' : 'stale_price', day, price_nano, classes);
  }
  if (!sums.has('class_without_price')) {
    for (const day of days) {
      if (uncounted.some((name) => isBilled(day, name))) {
        note('class_without_price', day, 0n, uncounted);
      }
    }
  }
  return [...sums]
    .toSorted(([, a], [, b]) => Number(absolute(b.nano) - absolute(a.nano)))
    .map(([cause, sum]) => causeOf(cause, sum, { whole, facts, price }));
}

/** The classes that the bill has tokens or costs of, and the ledger none. */
function uncountedClasses(whole: BilledDay, { classes, costed }: ExportFacts): ExportClass[] {
  const { charged } = whole;
  if (charged.calls === 0) return [];
  return (classes.length > 0 ? classes : costed).filter(
    (name) => PART_OF[name] && isBilled(whole, name) && charged.tokens[name] === 0,
  );
}

function isBilled({ billed }: BilledDay, name: ExportClass): boolean {
  return billed.tokens[name] > 0 || (billed.cost_by_class[name] ?? 0n) > 0n;
}

/** Why one side has calls or tokens on a day that the other has not; undefined if both have. */
function volumeCause(day: BilledDay, facts: ExportFacts): CauseName | undefined {
  const { billed, charged } = day;
  const { has_costs, has_calls, classes } = facts;
  const isBilled = has_costs && billed.cost_nano !== 0n;
  const there = isBilled || billed.calls > 0 || allTokens(billed.tokens) > 0;
  if (!there && charged.calls === 0) return undefined;
  if (!there) return 'missing_in_export';
  if (charged.calls === 0) return charged.aborted > 0 ? 'aborted_calls' : 'calls_outside';
  const more = differenceOf(day, classes);
  if (more === 0) return undefined;
  if (has_calls && billed.calls !== charged.calls) {
    if (billed.calls < charged.calls) return 'missing_in_export';
    return billed.calls - charged.calls <= charged.aborted ? 'aborted_calls' : 'calls_outside';
  }
  const { estimated, aborted } = charged;
  const isSmall = classes.length === 0 || Math.abs(more) <= ESTIMATE_FACTOR * estimated.tokens;
  if (estimated.calls > 0 && isSmall) return 'estimates';
  if (has_calls) return aborted > 0 ? 'aborted_calls' : 'other_counts';
  if (more < 0) return 'missing_in_export';
  return aborted > 0 ? 'aborted_calls' : 'calls_outside';
}

/** How much more the bill has: tokens, or cents where it has no tokens. */
function differenceOf({ billed, charged }: BilledDay, classes: readonly ExportClass[]): number {
  if (classes.length === 0) return Number((billed.cost_nano - charged.cost_nano) / CENT);
  const prompt = promptTokens(billed.tokens) - promptTokens(charged.tokens);
  const output = outputTokens(billed.tokens) - outputTokens(charged.tokens);
  // What the one has more in the prompt may not hide what the other has more in the output.
  return prompt + output === 0 ? Math.abs(prompt) : prompt + output;
}

/** What the tokens that only one side has cost, by the price of the configuration. */
function volumeNano(
  { billed, charged }: BilledDay,
  difference_nano: bigint,
  price: PriceByClass | undefined,
  { has_costs, classes }: ExportFacts,
): bigint {
  if (!has_costs) return 0n;
  if (classes.length === 0 || !price || charged.calls === 0 || allTokens(billed.tokens) === 0) {
    return difference_nano;
  }
  const here_nano = costAt(price, charged.tokens);
  const there_nano = costAt(price, billed.tokens);
  if (here_nano === 0n) return difference_nano;
  // At the price of that day, which may have been another than that of now.
  return ((there_nano - here_nano) * charged.cost_nano) / here_nano;
}

function costAt(price: PriceByClass, tokens: Billed['tokens']): bigint {
  return EXPORT_CLASSES.reduce(
    (sum, name) => sum + (rateOf(price, name) * BigInt(tokens[name])) / MILLION,
    0n,
  );
}

/** The price of a class: its own, or that of the class which it is part of. */
function rateOf(price: PriceByClass, name: ExportClass): bigint {
  const whole = PART_OF[name];
  return price[name] ?? (whole ? rateOf(price, whole) : 0n);
}

function isPriceDifference(nano: bigint, { billed, charged }: BilledDay): boolean {
  const size_nano = absolute(nano);
  if (billed.cost_nano === 0n || charged.calls === 0) return false;
  return size_nano >= 1_000n && size_nano * PRICE_SHARE >= absolute(billed.cost_nano);
}

/** The classes whose missing price or count explains that the same tokens cost something else. */
function suspectClasses(
  day: BilledDay,
  price_nano: bigint,
  uncounted: readonly ExportClass[],
  { classes }: ExportFacts,
  price: PriceByClass | undefined,
): ExportClass[] {
  const { billed } = day;
  const unknown = uncounted.filter((name) => isBilled(day, name));
  if (unknown.length > 0) return unknown;
  if (!price) return [];
  return classes.filter((name) => {
    if (!PART_OF[name] || price[name] !== undefined || billed.tokens[name] === 0) return false;
    const cost_nano = billed.cost_by_class[name];
    if (cost_nano !== undefined) {
      const expected_nano = (rateOf(price, name) * BigInt(billed.tokens[name])) / MILLION;
      return absolute(cost_nano - expected_nano) * PRICE_SHARE >= absolute(cost_nano);
    }
    // Reads cost less than the class that they are part of, and all others more.
    return name === 'cached_input' ? price_nano < 0n : price_nano > 0n;
  });
}

/** What the bill has, and what the ledger has, for the same. */
type Pair = readonly [there_nano: bigint, here_nano: bigint];

/**
 * Whether the costs of a bill without tokens differ by their price: as a whole or in each class
 * that differs, by one factor on all days that do. Where only days with estimates differ, these
 * are the cause.
 */
function hasOtherPrice(
  days: readonly BilledDay[],
  { costed }: ExportFacts,
  price: PriceByClass | undefined,
): boolean {
  const differing = days.filter((day) => isOther(costsOfDay(day)));
  const hasEstimates = ({ charged }: BilledDay): boolean => charged.estimated.calls > 0;
  if (differing.every(hasEstimates) && !days.every(hasEstimates)) return false;
  if (hasOneRatio(days.map(costsOfDay))) return true;
  if (!price) return false;
  const byClass = costed.map((name) =>
    days.flatMap(({ billed, charged }): Pair[] => {
      const here_nano = (rateOf(price, name) * BigInt(charged.tokens[name])) / MILLION;
      return here_nano > 0n ? [[billed.cost_by_class[name] ?? 0n, here_nano]] : [];
    }),
  );
  const used = byClass.filter((pairs) => pairs.length > 0);
  const other = used.filter((pairs) => pairs.some(isOther));
  return other.length < used.length && other.every(hasOneRatio);
}

function costsOfDay({ billed, charged }: BilledDay): Pair {
  return [billed.cost_nano, charged.cost_nano];
}

function isOther([there_nano, here_nano]: Pair): boolean {
  return !isRounding(there_nano - here_nano);
}

/** Whether the bill is the same multiple of the ledger wherever they differ, at least twice. */
function hasOneRatio(pairs: readonly Pair[]): boolean {
  const ratios = pairs
    .filter((pair) => pair.every((nano) => nano > 0n) && isOther(pair))
    .map(([there_nano, here_nano]) => Number(there_nano) / Number(here_nano));
  return ratios.length > 1 && Math.max(...ratios) <= Math.min(...ratios) * 1.01;
}

interface Known {
  whole: BilledDay;
  facts: ExportFacts;
  price: PriceByClass | undefined;
}

function causeOf(cause: CauseName, sum: Sum, known: Known): Cause {
  const [first_day = '', last_day = first_day] = [sum.days[0]?.day, sum.days.at(-1)?.day];
  const when =
    sum.days.length === 1
      ? `on ${first_day}`
      : `on ${sum.days.length} days from ${first_day} to ${last_day}`;
  return {
    cause,
    difference: known.facts.has_costs ? formatDollars(sum.nano) : null,
    first_day,
    last_day,
    days: sum.days.length,
    text: `${TEXTS[cause](sum, known)}, ${when}`,
  };
}

const TEXTS: Readonly<Record<CauseName, (sum: Sum, known: Known) => string>> = {
  calls_outside: (sum, known) =>
    `calls outside the gateway, by the same key or organization: ${sizeOf(sum, known)}`,
  aborted_calls: (sum, known) =>
    `calls that failed or whose client left, which the upstream bills: ${sizeOf(sum, known)}`,
  estimates: (sum, { whole, facts }) => {
    const calls = counted(whole.charged.estimated.calls, 'call');
    const more = facts.classes.length > 0 ? `: ${moreTokens(sum)}` : '';
    return `estimates of the gateway, as ${calls} came without usage${more}`;
  },
  missing_in_export: (sum, known) =>
    `calls that the export has not, as of another key or project: ${sizeOf(sum, known)}`,
  class_without_price: (sum, known) => classText([...sum.classes], known),
  stale_price: (sum, known) => priceText(sum, known),
  other_counts: (sum) =>
    `answers whose usage is not what is billed: ${moreTokens(sum)} in as many calls`,
};

function sizeOf(sum: Sum, { facts }: Known): string {
  const { billed, charged } = wholeOfDays(sum.days);
  const parts = [
    ...(facts.has_calls ? [`${signed(billed.calls - charged.calls)} calls`] : []),
    ...(facts.classes.length > 0 ? [moreTokens(sum)] : []),
  ];
  return parts.join(', ') || 'by their cost';
}

function moreTokens({ days }: Sum): string {
  const { billed, charged } = wholeOfDays(days);
  return `${signed(allTokens(billed.tokens) - allTokens(charged.tokens))} tokens`;
}

function classText(classes: readonly ExportClass[], { whole }: Known): string {
  const told = classes.map((name) => {
    const { tokens, cost_by_class } = whole.billed;
    const dollars = withDollarSign(formatDollars(cost_by_class[name] ?? 0n));
    const billed = tokens[name] > 0 ? counted(tokens[name], 'token') : dollars;
    return whole.charged.tokens[name] === 0
      ? `${name}, of which the bill has ${billed} and the ledger none`
      : `${name}, which gateway.yaml has no price for (${billed})`;
  });
  return `a class without a price: ${told.join('; ')}`;
}

/** Names the prices of the bill where it has costs by class. */
function priceText({ days }: Sum, { price, facts }: Known): string {
  const { billed, charged } = wholeOfDays(days);
  const { tokens, cost_by_class, cost_nano } = billed;
  const rates = facts.classes.flatMap((name) => {
    const nano = cost_by_class[name];
    if (!price || nano === undefined || tokens[name] === 0) return [];
    const there_nano = (nano * MILLION) / BigInt(tokens[name]);
    const here_nano = rateOf(price, name);
    if (absolute(there_nano - here_nano) * PRICE_SHARE < there_nano) return [];
    const there = withDollarSign(formatDollars(rounded(there_nano)));
    return [
      `${name} ${there} a million on the bill, ${withDollarSign(formatDollars(here_nano))} here`,
    ];
  });
  if (rates.length > 0) return `a stale price: ${rates.join('; ')}`;
  const here_nano = charged.cost_nano;
  const share = here_nano === 0n ? 0 : (Number(cost_nano) / Number(here_nano) - 1) * 100;
  return `a stale price: the bill is ${signed(Number(share.toFixed(1)))} % for the same tokens`;
}

/** A price as it was written, without what rounding has added. */
function rounded(nano: bigint): bigint {
  const step = 10_000n;
  return ((nano + step / 2n) / step) * step;
}

function signed(count: number): string {
  return `${count > 0 ? '+' : ''}${count}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function absolute(nano: bigint): bigint {
  return nano < 0n ? -nano : nano;
}
