import type { Model, Upstream } from '../../core/model.js';
import type { ChatWork } from './call.js';
import { DEFAULT_MAX_TOKENS } from './formats/openai-request.js';
import { chatMaxCost } from './price.js';

/** The same work with another limit of output tokens. */
export function withLimit(work: ChatWork, max_tokens: number): ChatWork {
  return { ...work, call: { ...work.call, max_tokens } };
}

/** The largest limit of output tokens, up to the work's own, that costs so little; 0 for none. */
export function largestLimit(
  work: ChatWork,
  model: Model,
  upstreams: readonly Upstream[],
  available_nano: bigint,
): number {
  const fits = (limit: number): boolean =>
    chatMaxCost(withLimit(work, limit), model, upstreams) <= available_nano;
  let [least, most] = [0, work.call.max_tokens ?? 0];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}

/**
 * The least that the limit may be lowered to without asking its client: what it would have had
 * without naming any.
 */
export function leastLimit({ call }: ChatWork, { limits }: Model): number {
  return Math.min(call.max_tokens ?? 0, limits.default_max_tokens ?? DEFAULT_MAX_TOKENS);
}
