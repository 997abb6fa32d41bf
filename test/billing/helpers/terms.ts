import { type Terms, chatMaxCost } from '../../../src/modalities/chat/price.js';
import { UsageReport } from '../../../src/modalities/chat/usage-report.js';
import { chatRequest } from '../../../src/modalities/chat/formats/chat-completion.js';
import type { ChatCompletionBody } from '../../../src/schema-types/chat-completion.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';
import type { Capability, Model, Price } from '../../../src/core/model.js';

/** 150 nano-dollars a token in, 600 out. */
export const PRICE: Price = {
  free: false,
  input_nano_per_million: 150_000_000n,
  output_nano_per_million: 600_000_000n,
};
export const FREE: Price = { ...upstreamAt(providerAt('http://127.0.0.1')).price };

/** A model that can do everything, with an upstream for each price. */
export function modelAt(prices: readonly Price[], max_tokens?: number): Model {
  const provider = providerAt('http://127.0.0.1');
  const capabilities: Capability[] = ['chat', 'vision', 'audio', 'tools', 'file'];
  return {
    id: 'm',
    owner: 'acme',
    created: 0,
    capabilities: new Set(capabilities),
    upstreams: prices.map((price) => upstreamAt(provider, { price })),
    limits: { max_tokens, context: undefined, image_tokens: 2_000 },
    passthrough: new Set(),
    price: prices[0] ?? FREE,
  };
}

/** How a call is billed at the first of the prices, under the hold that all of them ask for. */
export function termsOf(
  body: Omit<ChatCompletionBody, 'model'>,
  prices: readonly Price[] = [PRICE],
  max_tokens = 100,
): Terms {
  const model = modelAt(prices, max_tokens);
  const request = chatRequest({ model: 'm', ...body }, model);
  const bound = chatMaxCost(request, model, model.upstreams);
  const upstream = model.upstreams[0] ?? upstreamAt(providerAt('http://127.0.0.1'));
  const reports = [new UsageReport(0, request.call.n)];
  const began_ms = 0;
  return { request, model, upstream, began_ms, reports, hold_nano: bound === 0n ? null : bound };
}
