import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import { callsCost } from '../../billing/bill.js';
import { cardOf } from '../../billing/rate-card.js';
import type { Model } from '../../core/model.js';
import { chatRequest } from './formats/chat-completion.js';
import { chatMaxCost } from './price.js';

const PROMPT_TOKENS = 1_000;
const ANSWER_TOKENS = 500;

/** The bill of a prompt of 1,000 tokens with an answer of 500. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  const content = 'word'.repeat(PROMPT_TOKENS);
  const completion_tokens = Math.min(ANSWER_TOKENS, model.limits.max_tokens ?? ANSWER_TOKENS);
  const messages = [{ role: 'user' as const, content }];
  const request = chatRequest({ model: model.id, messages, max_tokens: completion_tokens }, model);
  const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens };
  const sample =
    `chat: ${content.length} bytes of text that turn out to be ${PROMPT_TOKENS} tokens, ` +
    `and an answer of ${completion_tokens}, with "max_tokens": ${completion_tokens}`;
  const held_nano = chatMaxCost(request, model, model.upstreams);
  return billSample(sample, held_nano, model.upstreams, ({ price }) =>
    callsCost([{ usage, card: cardOf(price, { prompt_tokens: PROMPT_TOKENS }) }]),
  );
}
