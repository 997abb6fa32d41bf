import type { Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import type { ProbeContext } from '../../pipeline/modality.js';
import { embeddingWork } from './formats/embedding.js';
import { embeddingBill } from './price.js';
import { sendEmbedding } from './send.js';

/** Asks for the vector of one word. */
export async function probeEmbedding(
  model: Model,
  upstream: Upstream,
  { configuration, network, client }: ProbeContext,
): Promise<Bill> {
  const { call } = embeddingWork({ model: model.id, input: 'Hi' }, model);
  const { usage } = await sendEmbedding(call, upstream, client, { configuration, network });
  return embeddingBill(usage, { call, model, price: upstream.price, hold_nano: null });
}
