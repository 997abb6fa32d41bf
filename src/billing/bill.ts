import { divideUp, minNano } from '../lib/money.js';
import type { ModelLimits, Price, TokenUnit } from '../core/model.js';
import {
  INPUT_CLASSES,
  NO_TOKENS,
  OUTPUT_CLASSES,
  TOKEN_CLASSES,
  type TokenClass,
  type TokenUsage,
} from '../core/usage.js';
import { isRecord } from '../lib/objects.js';
import type { Task, TaskCharge } from '../store/tasks/task-types.js';

/** What an answer costs. `estimated` if the upstream's own usage is missing or impossible. */
export interface Bill {
  usage: TokenUsage;
  /** The cost that the client owes. */
  cost_nano: bigint;
  /** The cost beyond the output limit that was sent, which the client does not owe. */
  not_owed_nano?: bigint;
  /** What the upstream takes; absent if that is `cost_nano` and `not_owed_nano` together. */
  upstream_cost_nano?: bigint;
  /**
   * What the prompt would cost more without caches, at the prices of this bill: what reads saved,
   * less what writes cost beyond plain input. Negative where the writes cost more.
   */
  saved_nano?: bigint;
  /** What the prompt would cost less if the cache had held all of it: at most what a miss lost. */
  missed_nano?: bigint;
  estimated: boolean;
  /** What the upstream reported that no price covers, by the missing fields of the price. */
  unpriced?: readonly string[];
  /** Further counts for the ledger, such as images. */
  counts?: Readonly<Record<string, number>>;
  /** Set for a task that no request has paid for yet. */
  task?: Pick<TaskCharge, 'content_id' | 'usage'>;
}

/** What was charged for a bill. */
export interface Receipt extends Pick<Bill, 'usage' | 'estimated' | 'counts'> {
  /** The cost that was collected. */
  cost_nano: bigint;
  /** What the upstream takes. */
  upstream_cost_nano: bigint;
  /** The cost beyond that, which the account could not pay or does not owe. */
  uncollected_nano: bigint;
  /** The charged task; undefined if the bill has none, or if the task was deleted meanwhile. */
  task?: Task | undefined;
}

/** What the upstream takes for the answer of a bill. */
export function upstreamCost({
  cost_nano,
  not_owed_nano = 0n,
  upstream_cost_nano = cost_nano + not_owed_nano,
}: Pick<Bill, 'cost_nano' | 'not_owed_nano' | 'upstream_cost_nano'>): bigint {
  return upstream_cost_nano;
}

/** What the account owes at a price, and what the upstream takes where its price is another one. */
export function costsAt(
  price: Price,
  costOf: (card: Price) => bigint,
): Pick<Bill, 'cost_nano' | 'upstream_cost_nano'> {
  const { cost } = price;
  return { cost_nano: costOf(price), ...(cost && { upstream_cost_nano: costOf(cost) }) };
}

/** The same for one call to the upstream, with its fee. `costOf` has the cost without it. */
export function callCostsAt(
  price: Price,
  costOf: (card: Price) => bigint,
): Pick<Bill, 'cost_nano' | 'upstream_cost_nano'> {
  return costsAt(price, (card) => costOf(card) + (card.per_request ?? 0n));
}

/** The receipt of a bill of which `uncollected_nano` could not be collected. */
export function receiptOf(bill: Bill, uncollected_nano = 0n): Receipt {
  const { usage, estimated, counts, cost_nano, not_owed_nano = 0n } = bill;
  const upstream_cost_nano = upstreamCost(bill);
  const receipt: Receipt = { usage, estimated, cost_nano, upstream_cost_nano, uncollected_nano };
  if (uncollected_nano > 0n) receipt.cost_nano = cost_nano + not_owed_nano - uncollected_nano;
  if (counts) receipt.counts = counts;
  return receipt;
}

/**
 * Reads an `UpstreamUsage`; undefined unless `prompt_tokens` and `completion_tokens` are counts.
 * Omits a class that is not a count or exceeds its total. The classes of the prompt never add up to
 * more than the prompt: audio and images that may be cached count as cached. Nor do audio and
 * images to more than the output.
 */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const { prompt_tokens, completion_tokens } = usage;
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return undefined;
  const read: TokenUsage = { prompt_tokens, completion_tokens };
  const input = usage.prompt_tokens_details;
  const output = usage.completion_tokens_details;
  if (isRecord(input)) readInput(input, read);
  if (isRecord(output)) readOutput(output, read);
  if (isTierName(usage.service_tier)) read.tier = usage.service_tier;
  const tool_calls = readToolCalls(usage.tool_calls);
  if (tool_calls) read.tool_calls = tool_calls;
  return read;
}

/** Reads an `UpstreamUsage` as `readUsage` does. A count that it does not have is 0. */
export function readPartialUsage(usage: unknown): TokenUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const { prompt_tokens, completion_tokens } = usage;
  return readUsage({
    ...usage,
    prompt_tokens: prompt_tokens ?? 0,
    completion_tokens: completion_tokens ?? 0,
  });
}

function readInput(details: Record<string, unknown>, read: TokenUsage): void {
  let rest = read.prompt_tokens;
  for (const name of INPUT_CLASSES) {
    const count = details[DETAILS[name] ?? name];
    if (!isCount(count) || count > read.prompt_tokens) continue;
    read[name] = Math.min(count, rest);
    rest -= read[name];
  }
}

function readOutput(details: Record<string, unknown>, read: TokenUsage): void {
  let rest = read.completion_tokens;
  for (const name of OUTPUT_CLASSES) {
    const count = details[DETAILS[name] ?? name];
    if (!isCount(count) || count > read.completion_tokens) continue;
    read[name] = name === 'reasoning_tokens' ? count : Math.min(count, rest);
    if (name !== 'reasoning_tokens') rest -= read[name];
  }
}

/** The names that classes have in the details of their side, where these are others. */
const DETAILS: Partial<Record<TokenClass, string>> = {
  audio_input_tokens: 'audio_tokens',
  image_input_tokens: 'image_tokens',
  audio_output_tokens: 'audio_tokens',
  image_output_tokens: 'image_tokens',
};

function isTierName(value: unknown): value is string {
  return typeof value === 'string' && /^\w[\w.-]{0,63}$/u.test(value);
}

/** No upstream calls its tools more often for one answer: a higher count is nonsense. */
const MAX_TOOL_CALLS = 1_000;

/** The counts of calls of tools that are counts; undefined if none is above zero. */
function readToolCalls(calls: unknown): Record<string, number> | undefined {
  if (!isRecord(calls)) return undefined;
  const read = Object.entries(calls).filter((entry): entry is [string, number] => {
    const [name, count] = entry;
    return /^\w{1,64}$/u.test(name) && isCount(count) && count > 0 && count <= MAX_TOOL_CALLS;
  });
  return read.length > 0 ? Object.fromEntries(read) : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The sum of the usage of two calls. A class that only one of them has is taken from that one. It
 * names a tier only if both calls, or the only one with tokens, name it.
 */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  if (one === NO_TOKENS) return other;
  const sum: TokenUsage = {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
  };
  for (const name of TOKEN_CLASSES) {
    const counts = [one[name], other[name]].filter((count) => count !== undefined);
    if (counts.length > 0) sum[name] = counts.reduce((all, count) => all + count, 0);
  }
  if (one.tier !== undefined && one.tier === other.tier) sum.tier = one.tier;
  const tool_calls = addToolCalls(one.tool_calls, other.tool_calls);
  if (tool_calls) sum.tool_calls = tool_calls;
  return sum;
}

function addToolCalls(
  one: TokenUsage['tool_calls'],
  other: TokenUsage['tool_calls'],
): TokenUsage['tool_calls'] {
  if (!one || !other) return one ?? other;
  const sum: Record<string, number> = { ...one };
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** The most plausible tokens of one figure if the context of the model is not known. */
const MAX_TOKENS = 10_000_000;
/**
 * How often a plausible call can fill the context: providers count differently, and their own tools
 * may read a prompt several times.
 */
const CONTEXTS = 4;

/** Whether a model with these limits can have used so many tokens for `answers` answers. */
export function isPlausible(usage: TokenUsage, { context }: ModelLimits, answers: number): boolean {
  const max = context === undefined ? MAX_TOKENS : CONTEXTS * context * answers;
  return usage.prompt_tokens <= max && usage.completion_tokens <= max;
}

/** The bytes of the longest token of any known vocabulary, a run of spaces. */
const LONGEST_TOKEN_BYTES = 128;

/** The fewest tokens that a text of so many bytes can have. */
export function leastTokens(bytes: number): number {
  return Math.ceil(bytes / LONGEST_TOKEN_BYTES);
}

/** The cost of an estimate, which never exceeds the hold. `hold_nano` is null for a free call. */
export function cappedByHold(cost_nano: bigint, hold_nano: bigint | null): bigint {
  return hold_nano === null ? cost_nano : minNano(cost_nano, hold_nano);
}

/** Whether the price charges for tokens of input or output. */
export function hasTokenPrice(price: Price): boolean {
  return price.input_nano_per_million > 0n || price.output_nano_per_million > 0n;
}

const MILLION = 1_000_000n;

/**
 * The cost of tokens in nano-dollars: each class at its own price, else at the price of input or
 * output. The sum is rounded up once.
 */
export function tokenCost(usage: TokenUsage, price: Price): bigint {
  return divideUp(tokenMillionths(usage, price), MILLION);
}

/** The usage of a call to an upstream, and its card: the prices by which it is billed. */
export interface BilledCall {
  usage: TokenUsage;
  card: Price;
}

/** The cost of calls, with their fees and tools. That of all tokens is rounded up once. */
export function callsCost(calls: readonly BilledCall[]): bigint {
  let millionths = 0n;
  let others = 0n;
  for (const { usage, card } of calls) {
    millionths += tokenMillionths(usage, card);
    others += card.per_request ?? 0n;
    if (usage.tool_calls && card.per_tool_call) {
      others += toolCost(usage.tool_calls, card.per_tool_call);
    }
  }
  return divideUp(millionths, MILLION) + others;
}

function toolCost(
  calls: Readonly<Record<string, number>>,
  prices: ReadonlyMap<string, bigint>,
): bigint {
  const costs = [...prices].map(([name, nano]) => BigInt(calls[name] ?? 0) * nano);
  return costs.reduce((sum, cost) => sum + cost, 0n);
}

/** The cost of tokens in millionths of a nano-dollar, before it is rounded. */
function tokenMillionths(usage: TokenUsage, price: Price): bigint {
  let millionths = 0n;
  eachPricedClass(usage, price, (_unit, count, nano_per_million) => {
    if (count > 0) millionths += BigInt(count) * nano_per_million;
  });
  return millionths;
}

/**
 * Gives each token once, in the class that it is priced by, with the price of a million of them.
 * Each call costs it several times, so it makes no list.
 */
export function eachPricedClass(
  usage: TokenUsage,
  price: Price,
  take: (unit: TokenUnit, count: number, nano_per_million: bigint) => void,
): void {
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0 } = usage;
  const { cache_write_1h_tokens: written_1h = 0 } = usage;
  const { audio_input_tokens: heard = 0, image_input_tokens: seen = 0 } = usage;
  const { audio_output_tokens: spoken = 0, image_output_tokens: drawn = 0 } = usage;
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  const { cache_write_nano_per_million: write = input } = price;
  const plain = usage.prompt_tokens - cached - written - written_1h - heard - seen;
  take('input_per_million', plain, input);
  take('cached_input_per_million', cached, price.cached_input_nano_per_million ?? input);
  take('cache_write_per_million', written, write);
  const write_1h = price.cache_write_1h_nano_per_million ?? write;
  take('cache_write_1h_per_million', written_1h, write_1h);
  take('audio_input_per_million', heard, price.audio_input_nano_per_million ?? input);
  take('image_input_per_million', seen, price.image_input_nano_per_million ?? input);
  take('output_per_million', usage.completion_tokens - spoken - drawn, output);
  take('audio_output_per_million', spoken, price.audio_output_nano_per_million ?? output);
  take('image_output_per_million', drawn, price.image_output_nano_per_million ?? output);
}

const WITHOUT_CACHE = { cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 };

/** What caches saved and missed of calls at their prices; empty where they have nothing. */
export function cacheSavings(
  calls: readonly BilledCall[],
): Pick<Bill, 'saved_nano' | 'missed_nano'> {
  const savings: ReturnType<typeof cacheSavings> = {};
  if (calls.some(({ usage }) => usesCache(usage))) {
    const plain = calls.map(({ usage, card }) => ({ usage: { ...usage, ...WITHOUT_CACHE }, card }));
    savings.saved_nano = callsCost(plain) - callsCost(calls);
  }
  let missed = 0n;
  for (const { usage, card } of calls) {
    const { input_nano_per_million: input, cached_input_nano_per_million: cached = input } = card;
    if (cached >= input) continue;
    missed += BigInt(usage.prompt_tokens - (usage.cached_tokens ?? 0)) * (input - cached);
    savings.missed_nano = divideUp(missed, MILLION);
  }
  return savings;
}

function usesCache({
  cached_tokens = 0,
  cache_write_tokens = 0,
  cache_write_1h_tokens = 0,
}: TokenUsage): boolean {
  return cached_tokens + cache_write_tokens + cache_write_1h_tokens > 0;
}

/**
 * The max cost of tokens in nano-dollars, whichever of them are cached, and whichever of the output
 * are audio or images. Of the prompt, only `audio_input_tokens` count as audio, and
 * `image_input_tokens` as images.
 */
export function maxTokenCost(usage: TokenUsage, price: Price): bigint {
  const input = highest(
    price.input_nano_per_million,
    price.cached_input_nano_per_million,
    price.cache_write_nano_per_million,
    price.cache_write_1h_nano_per_million,
  );
  const output = highest(
    price.output_nano_per_million,
    price.audio_output_nano_per_million,
    price.image_output_nano_per_million,
  );
  const { prompt_tokens, completion_tokens, audio_input_tokens = 0 } = usage;
  return tokenCost(
    {
      prompt_tokens,
      completion_tokens,
      audio_input_tokens,
      image_input_tokens: usage.image_input_tokens ?? 0,
    },
    {
      free: price.free,
      input_nano_per_million: input,
      audio_input_nano_per_million: highest(input, price.audio_input_nano_per_million),
      image_input_nano_per_million: highest(input, price.image_input_nano_per_million),
      output_nano_per_million: output,
    },
  );
}

function highest(first: bigint, ...others: readonly (bigint | undefined)[]): bigint {
  return others.reduce<bigint>((max, one) => (one !== undefined && one > max ? one : max), first);
}

type UsageBody = Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'> & { total_tokens: number };

/** Usage as the contract shows it (specification 2.4). */
export function usageBody({ prompt_tokens, completion_tokens }: TokenUsage): UsageBody {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** Usage as OpenAI shows it, with the classes that the upstream reported. */
export function detailedUsageBody(usage: TokenUsage): object {
  const input = named({
    cached_tokens: usage.cached_tokens,
    cache_write_tokens: usage.cache_write_tokens,
    cache_write_1h_tokens: usage.cache_write_1h_tokens,
    audio_tokens: usage.audio_input_tokens,
    image_tokens: usage.image_input_tokens,
  });
  const output = named({
    reasoning_tokens: usage.reasoning_tokens,
    audio_tokens: usage.audio_output_tokens,
    image_tokens: usage.image_output_tokens,
  });
  return {
    ...usageBody(usage),
    ...(input && { prompt_tokens_details: input }),
    ...(output && { completion_tokens_details: output }),
  };
}

function named(counts: Record<string, number | undefined>): object | undefined {
  const known = Object.entries(counts).filter(([, count]) => count !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
