import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import type { Model, Upstream } from '../../core/model.js';
import { imageBill, imageMaxCost } from './price.js';
import { imageWork, priced } from './formats/image-generation.js';

/** One image. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  const { per_image } = model.price;
  const quality =
    per_image?.has('hd') && !per_image.has('standard') ? { quality: 'hd' as const } : {};
  const body = { model: model.id, prompt: 'A red fox in the snow', ...quality };
  const { call } = imageWork(body, model);
  const able = priced(call, model);
  const costs = new Map<Upstream, bigint>();
  for (const upstream of able) {
    const terms = { call, model, price: upstream.price, hold_nano: null };
    costs.set(upstream, (await imageBill([undefined], 1, terms)).cost_nano);
  }
  const size = call.size && `${call.size.width}x${call.size.height}`;
  const request = ['image: one image', size, call.quality].filter(Boolean).join(', ');
  const held_nano = imageMaxCost(call, model, able);
  return billSample(request, held_nano, able, (one) => costs.get(one) ?? 0n);
}
