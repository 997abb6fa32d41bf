import type { ChatCall } from '../../src/modalities/chat/codec.js';
import type { UpstreamUsage } from '../../src/core/usage.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { isIndex } from '../openai/answer.js';
import { toolCountsIn } from '../openai/tool-counts.js';

type Usage = Readonly<Record<string, unknown>>;

/** Features that run a prompt more than once, or through another model. */
const REPEATING = ['context_management', 'fallbacks'];

/** Whether the counts of an answer are only those of its last run. */
export function repeats({ fields }: ChatCall, { set }: Upstream): boolean {
  const tools = recordsIn(fields.tools);
  return (
    tools.some(({ type }) => type !== 'function') ||
    REPEATING.some((name) => fields[name] !== undefined || set[name] !== undefined)
  );
}

const COUNTERS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
] as const;

/** The counters of a report that are billed, in the same form. */
export function countersIn(usage: Usage): Usage {
  const runs = recordsIn(usage.iterations);
  const { output_tokens_details: output, cache_creation, server_tool_use } = usage;
  const tier = tierOf(usage);
  return {
    ...Object.fromEntries(COUNTERS.map((name) => [name, usage[name]])),
    ...(isRecord(cache_creation) && { cache_creation }),
    ...(isRecord(server_tool_use) && { server_tool_use }),
    ...(tier !== undefined && { service_tier: tier }),
    ...(runs.length > 0 && { iterations: runs }),
    ...(isRecord(output) && {
      output_tokens_details: { thinking_tokens: output.thinking_tokens },
    }),
  };
}

/**
 * Usage in the gateway's form: cache reads and writes are part of the prompt. A count that no
 * counter says is absent; undefined if no counter says any. A call with several runs is billed by
 * its `iterations`, if it has them.
 */
export function anthropicUsage(usage: unknown, isRepeated: boolean): UpstreamUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const runs = isRepeated ? recordsIn(usage.iterations) : [];
  const counts = runs.length > 0 ? runs : [usage];
  const cached = sumOf(counts, 'cache_read_input_tokens') ?? 0;
  const written = sumOf(counts, 'cache_creation_input_tokens') ?? 0;
  const fresh = sumOf(counts, 'input_tokens');
  const completion_tokens = sumOf(counts, 'output_tokens');
  const hasPrompt = fresh !== undefined || cached !== 0 || written !== 0;
  if (!hasPrompt && completion_tokens === undefined) return undefined;
  const output = usage.output_tokens_details;
  const thinking = isRecord(output) ? output.thinking_tokens : undefined;
  const hours = hourWrites(counts, written);
  const tier = tierOf(usage);
  const tool_calls = toolCountsIn(usage);
  return {
    ...(hasPrompt && { prompt_tokens: total([fresh ?? 0, cached, written]) }),
    ...(completion_tokens !== undefined && { completion_tokens }),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: hours === 0 ? written : Number(written) - hours,
      ...(hours > 0 && { cache_write_1h_tokens: hours }),
    },
    ...(thinking !== undefined &&
      thinking !== null && {
        completion_tokens_details: { reasoning_tokens: thinking },
      }),
    ...(tier !== undefined && { service_tier: tier }),
    ...(tool_calls && { tool_calls }),
  };
}

/** The service tier. What runs at another speed has that as its tier. */
function tierOf({ service_tier, speed }: Usage): string | undefined {
  if (speed === 'fast') return speed;
  return typeof service_tier === 'string' ? service_tier : undefined;
}

/** The writes to the cache for an hour, at most all that were `written`. */
function hourWrites(counts: readonly Usage[], written: unknown): number {
  const hours = sumOf(
    counts.flatMap(({ cache_creation: one }) => (isRecord(one) ? [one] : [])),
    'ephemeral_1h_input_tokens',
  );
  return isIndex(hours) && isIndex(written) ? Math.min(hours, written) : 0;
}

/** The sum of a counter over several runs; undefined if none of them has it. */
function sumOf(runs: readonly Usage[], name: string): unknown {
  const counts = runs.map((run) => run[name] ?? undefined).filter((one) => one !== undefined);
  return counts.length > 0 ? total(counts) : undefined;
}

/** The sum of counts, or the first that is none, so that nonsense stays nonsense. */
function total(counts: readonly unknown[]): unknown {
  let sum = 0;
  for (const count of counts) {
    if (!isIndex(count)) return count;
    sum += count;
  }
  return sum;
}
