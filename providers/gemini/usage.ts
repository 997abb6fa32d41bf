import type { UpstreamUsage } from '../../src/core/usage.js';
import { mergeCounters } from '../../src/lib/counters.js';
import { shortTier } from '../../src/core/service-tiers.js';
import { isRecord } from '../../src/lib/objects.js';
import { listIn, type GeminiObject } from '../gemini-wire.js';
import { isIndex, trafficTier } from '../openai/answer.js';

const INPUT = ['promptTokenCount', 'toolUsePromptTokenCount'];
const OUTPUT = ['candidatesTokenCount', 'thoughtsTokenCount'];
const DETAILS = ['promptTokensDetails', 'cacheTokensDetails', 'candidatesTokensDetails'];
/** The kinds of tokens that may have a price of their own. */
const KINDS = ['AUDIO', 'IMAGE'] as const;

type Kind = (typeof KINDS)[number];

/** The counters of an answer, as its events have reported them so far. */
export type Counters = Readonly<Record<string, unknown>>;

/** The counters so far with those of one more event; undefined if there are none yet. */
export function countersWith(
  before: Counters | undefined,
  event: GeminiObject,
): Counters | undefined {
  const reported = event.usageMetadata;
  if (!isRecord(reported)) return before;
  const later: Counters = {
    ...picked(reported, [...INPUT, ...OUTPUT, 'cachedContentTokenCount']),
    ...Object.fromEntries(
      DETAILS.flatMap((name) =>
        KINDS.map((kind) => [`${name} ${kind}`, tokensOf(reported, name, kind)]),
      ),
    ),
    tier: tierIn(reported, event),
  };
  // A report of another prompt begins anew, as after a search: its missing output is none.
  const [known, prompt] = [before?.promptTokenCount, later.promptTokenCount];
  const isNew = Boolean(known) && Boolean(prompt) && prompt !== known;
  const kept = isNew && sum(later, OUTPUT) > 0 ? { ...before, ...NO_OUTPUT } : before;
  return mergeCounters<Counters>(kept, later);
}

const NO_OUTPUT = picked({}, [
  ...OUTPUT,
  ...KINDS.map((kind) => `candidatesTokensDetails ${kind}`),
]);

function picked(counts: GeminiObject, names: readonly string[]): GeminiObject {
  return Object.fromEntries(names.map((name) => [name, counts[name]]));
}

/**
 * The usage in the gateway's form; undefined if the counters say none. Thoughts are counted apart
 * from the candidates, and the tokens that the upstream's own tools read apart from the prompt.
 */
export function geminiUsage(
  counters: Counters | undefined,
  tool_calls: UpstreamUsage['tool_calls'],
): UpstreamUsage | undefined {
  if (!counters) return undefined;
  const completion_tokens = sum(counters, OUTPUT);
  const hasPrompt = INPUT.some((name) => isSaid(counters[name]));
  const prompt_tokens = hasPrompt ? sum(counters, INPUT) : undefined;
  if (!prompt_tokens && !completion_tokens) return undefined;
  const { cachedContentTokenCount: cached, thoughtsTokenCount: thoughts } = counters;
  const { tier } = counters;
  const input = {
    ...(isSaid(cached) && { cached_tokens: cached }),
    ...kindsIn((kind) => {
      // What was read from the cache is counted there.
      const [all, read] = ['promptTokensDetails', 'cacheTokensDetails'].map((name) =>
        Number(counters[`${name} ${kind}`]),
      );
      return Number(all) - Number(read);
    }),
  };
  const output = {
    ...(isSaid(thoughts) && { reasoning_tokens: thoughts }),
    ...kindsIn((kind) => Number(counters[`candidatesTokensDetails ${kind}`])),
  };
  return {
    prompt_tokens,
    completion_tokens,
    ...(Object.keys(input).length > 0 && { prompt_tokens_details: input }),
    ...(Object.keys(output).length > 0 && { completion_tokens_details: output }),
    ...(isSaid(tier) && { service_tier: tier }),
    ...(tool_calls && { tool_calls }),
  };
}

/** The classes of the kinds that have tokens. */
function kindsIn(tokensOfKind: (kind: Kind) => number): Record<string, number> {
  const counts = KINDS.map((kind) => [`${kind.toLowerCase()}_tokens`, tokensOfKind(kind)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** Each of Google's two APIs has a field for the tier, and words of its own. */
function tierIn(reported: GeminiObject, event: GeminiObject): string | undefined {
  const named = reported.serviceTier ?? event.serviceTier;
  if (typeof named === 'string') return shortTier(named);
  return trafficTier(reported.trafficType);
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** NaN where one of them is no count, so that nobody believes it. */
function sum(counts: GeminiObject, names: readonly string[]): number {
  let total = 0;
  for (const name of names) {
    const count = counts[name];
    if (isSaid(count)) total += isIndex(count) ? count : NaN;
  }
  return total;
}

function tokensOf(counts: GeminiObject, name: string, kind: Kind): number {
  const tokens = listIn(counts, name)
    .filter(({ modality }) => modality === kind)
    .map(({ tokenCount }) => (isIndex(tokenCount) ? tokenCount : 0));
  return tokens.reduce((total, count) => total + count, 0);
}
