import type { ChatCall } from '../../src/modalities/chat/codec.js';
import type { UpstreamUsage } from '../../src/core/usage.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { isIndex } from '../openai/answer.js';

type Usage = Readonly<Record<string, unknown>>;

/** Features that run a prompt more than once, or through another model. */
const REPEATING = ['context_management', 'fallbacks'];

/** Whether the counts of an answer are only those of its last run. */
export function repeats({ fields }: ChatCall, { set }: Upstream): boolean {
  const tools = recordsIn(fields['tools']);
  return (
    tools.some(({ type }) => type !== 'function') ||
    REPEATING.some((name) => fields[name] !== undefined || set[name] !== undefined)
  );
}

/**
 * Usage in the gateway's form: cache reads and writes are part of the prompt. Undefined if there is
 * none. A call with several runs is billed by its `iterations`, if it has them.
 */
export function usageOf(usage: unknown, isRepeated: boolean): UpstreamUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const passes = isRepeated ? recordsIn(usage['iterations']) : [];
  const counts = passes.length > 0 ? passes : [usage];
  const { input_tokens, output_tokens } = usage;
  if (input_tokens === undefined && output_tokens === undefined && passes.length === 0) {
    return undefined;
  }
  const cached = sumOf(counts, ['cache_read_input_tokens'], 0);
  const written = sumOf(counts, ['cache_creation_input_tokens'], 0);
  const thinking = isRecord(usage['output_tokens_details'])
    ? usage['output_tokens_details']['thinking_tokens']
    : undefined;
  return {
    prompt_tokens: sumOf([{ cached, written, fresh: sumOf(counts, ['input_tokens']) }], PARTS),
    completion_tokens: sumOf(counts, ['output_tokens']),
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    ...(thinking !== undefined &&
      thinking !== null && {
        completion_tokens_details: { reasoning_tokens: thinking },
      }),
  };
}

const PARTS = ['fresh', 'cached', 'written'];

/** The sum of counts, or the first that is none, so that nonsense stays nonsense. */
function sumOf(counts: readonly Usage[], names: readonly string[], missing?: number): unknown {
  let sum = 0;
  for (const count of counts) {
    for (const name of names) {
      const value = count[name] ?? missing;
      if (!isIndex(value)) return value;
      sum += value;
    }
  }
  return sum;
}
