import { callCostsAt, tokenCost } from '../../billing/bill.js';
import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import type { Model } from '../../core/model.js';
import { embeddingWork } from './formats/embedding.js';
import { embeddingMaxCost } from './price.js';

const TOKENS = 1_000;

/** One text of a thousand tokens. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  const input = 'word'.repeat(TOKENS);
  const { call } = embeddingWork({ model: model.id, input }, model);
  const usage = { prompt_tokens: TOKENS, completion_tokens: 0 };
  const request = `embedding: ${input.length} bytes of text that turn out to be ${TOKENS} tokens`;
  const held_nano = embeddingMaxCost(call, model.upstreams);
  return billSample(
    request,
    held_nano,
    model.upstreams,
    ({ price }) => callCostsAt(price, (card) => tokenCost(usage, card)).cost_nano,
  );
}
