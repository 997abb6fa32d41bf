import type { Model, Upstream } from '../../core/model.js';
import type { ChatRequest } from './call.js';
import { DEFAULT_MAX_TOKENS } from './formats/chat-completion.js';
import { chatMaxCost } from './price.js';

/** The same request with another limit of output tokens. */
export function withLimit(request: ChatRequest, max_tokens: number): ChatRequest {
  return { ...request, call: { ...request.call, max_tokens } };
}

/**
 * The largest limit of output tokens, up to the request's own, whose max cost fits into
 * `available_nano`; 0 if none does.
 */
export function largestLimit(
  request: ChatRequest,
  model: Model,
  upstreams: readonly Upstream[],
  available_nano: bigint,
): number {
  const fits = (limit: number): boolean =>
    chatMaxCost(withLimit(request, limit), model, upstreams) <= available_nano;
  let [low, high] = [0, request.call.max_tokens ?? 0];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The smallest limit to which the gateway may lower the client's: the default limit. */
export function leastLimit({ call }: ChatRequest, { limits }: Model): number {
  return Math.min(call.max_tokens ?? 0, limits.default_max_tokens ?? DEFAULT_MAX_TOKENS);
}
