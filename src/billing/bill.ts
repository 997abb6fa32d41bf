import type { TokenUsage } from '../core/usage.js';

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

/** Token counts, if they are counts at all. */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { prompt_tokens, completion_tokens } = usage as Record<string, unknown>;
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return undefined;
  return { prompt_tokens, completion_tokens };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
