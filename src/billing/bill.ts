import type { ModelLimits, Price } from '../core/model.js';
import { INPUT_CLASSES, OUTPUT_CLASSES, TOKEN_CLASSES, type TokenUsage } from '../core/usage.js';
import { isRecord } from '../lib/is-record.js';

/** What an answer is charged for. `estimated` where the upstream's own figures were not usable. */
export interface Bill {
  usage: TokenUsage;
  /** What the client owes for it; once it is settled, what was collected. */
  cost_nano: bigint;
  /** What it cost beyond the output limit that was sent, which the client never owes. */
  not_owed_nano?: bigint;
  estimated: boolean;
  /** Once it is settled: what it cost beyond what was collected. Absent where that is nothing. */
  uncollected_nano?: bigint;
  /** What else there is to count in the ledger, such as images. */
  counts?: Readonly<Record<string, number>>;
}

/**
 * Reads an `UpstreamUsage`; undefined unless its first two figures are counts. A class that is no
 * count, or more than its whole, is left out. Sound that may have been read from the cache counts
 * as cached: the classes of the prompt never add up to more than the prompt.
 */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const { prompt_tokens, completion_tokens } = usage;
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return undefined;
  const read: TokenUsage = { prompt_tokens, completion_tokens };
  const input = usage['prompt_tokens_details'];
  const output = usage['completion_tokens_details'];
  if (isRecord(input)) readInput(input, read);
  if (isRecord(output)) readOutput(output, read);
  return read;
}

function readInput(details: Record<string, unknown>, read: TokenUsage): void {
  let rest = read.prompt_tokens;
  for (const name of INPUT_CLASSES) {
    const count = details[name === 'audio_input_tokens' ? 'audio_tokens' : name];
    if (!isCount(count) || count > read.prompt_tokens) continue;
    read[name] = Math.min(count, rest);
    rest -= read[name];
  }
}

function readOutput(details: Record<string, unknown>, read: TokenUsage): void {
  for (const name of OUTPUT_CLASSES) {
    const count = details[name === 'audio_output_tokens' ? 'audio_tokens' : name];
    if (isCount(count) && count <= read.completion_tokens) read[name] = count;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The usage of two calls together. A class that one of them names is that one's. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const sum: TokenUsage = {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
  };
  for (const name of TOKEN_CLASSES) {
    const counts = [one[name], other[name]].filter((count) => count !== undefined);
    if (counts.length > 0) sum[name] = counts.reduce((all, count) => all + count, 0);
  }
  return sum;
}

/** Tokens of one figure at the most, where the model's context is not known. */
const MAX_TOKENS = 10_000_000;
/**
 * How many times the context may be used: providers count differently, and tools of their own may
 * read a prompt several times over.
 */
const CONTEXTS = 4;

/** Whether no more tokens were used than can have been, whatever they cost. */
export function isPlausible(usage: TokenUsage, { context }: ModelLimits, answers: number): boolean {
  const most = context === undefined ? MAX_TOKENS : CONTEXTS * context * answers;
  return usage.prompt_tokens <= most && usage.completion_tokens <= most;
}

const MILLION = 1_000_000n;

/**
 * What a number of tokens costs, in nano-dollars: each class at its own price, or else at that of
 * input or output. The one place that rounds: the sum, up to the next nano-dollar.
 */
export function tokenCost(usage: TokenUsage, price: Price): bigint {
  const { cached_tokens = 0, cache_write_tokens = 0, audio_input_tokens = 0 } = usage;
  const { audio_output_tokens = 0 } = usage;
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  const plain = usage.prompt_tokens - cached_tokens - cache_write_tokens - audio_input_tokens;
  const spoken = usage.completion_tokens - audio_output_tokens;
  const sum =
    BigInt(plain) * input +
    BigInt(cached_tokens) * (price.cached_input_nano_per_million ?? input) +
    BigInt(cache_write_tokens) * (price.cache_write_nano_per_million ?? input) +
    BigInt(audio_input_tokens) * (price.audio_input_nano_per_million ?? input) +
    BigInt(spoken) * output +
    BigInt(audio_output_tokens) * (price.audio_output_nano_per_million ?? output);
  return (sum + MILLION - 1n) / MILLION;
}

/**
 * The most that a number of tokens can cost, whatever the upstream's cache does and whichever of
 * the answer is sound. Only the prompt's `audio_input_tokens` are taken for sound.
 */
export function maxTokenCost(usage: TokenUsage, price: Price): bigint {
  const { cached_input_nano_per_million: cached, cache_write_nano_per_million: write } = price;
  const { audio_input_nano_per_million: sound, audio_output_nano_per_million: voice } = price;
  const input = dearest(price.input_nano_per_million, cached, write);
  const { prompt_tokens, completion_tokens, audio_input_tokens = 0 } = usage;
  return tokenCost(
    { prompt_tokens, completion_tokens, audio_input_tokens },
    {
      free: price.free,
      input_nano_per_million: input,
      audio_input_nano_per_million: dearest(input, sound),
      output_nano_per_million: dearest(price.output_nano_per_million, voice),
    },
  );
}

function dearest(first: bigint, ...others: readonly (bigint | undefined)[]): bigint {
  return others.reduce<bigint>(
    (most, one) => (one !== undefined && one > most ? one : most),
    first,
  );
}

type UsageBody = Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'> & { total_tokens: number };

/** Usage as the contract shows it (specification 2.4). */
export function usageBody({ prompt_tokens, completion_tokens }: TokenUsage): UsageBody {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** Usage as OpenAI shows it, with the classes that the upstream has named. */
export function detailedUsageBody(usage: TokenUsage): object {
  const input = named({
    cached_tokens: usage.cached_tokens,
    cache_write_tokens: usage.cache_write_tokens,
    audio_tokens: usage.audio_input_tokens,
  });
  const output = named({
    reasoning_tokens: usage.reasoning_tokens,
    audio_tokens: usage.audio_output_tokens,
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
