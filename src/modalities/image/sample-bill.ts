import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import type { Model, Upstream } from '../../core/model.js';
import { QUALITIES, type ImageQuality } from './codec.js';
import { imageBill, imageMaxCost, kindIn } from './price.js';
import { imageWork, priced } from './formats/image-generation.js';

/** One image. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  const body = { model: model.id, prompt: 'A red fox in the snow', ...onlyQuality(model) };
  const { call } = imageWork(body, model);
  const able = priced(call, model);
  const costs = new Map<Upstream, bigint>();
  for (const upstream of able) {
    const terms = { call, model, price: upstream.price, hold_nano: null };
    costs.set(upstream, (await imageBill([undefined], [{}], terms)).cost_nano);
  }
  const size = call.size && `${call.size.width}x${call.size.height}`;
  const request = ['image: one image', size, call.quality].filter(Boolean).join(', ');
  const held_nano = imageMaxCost(call, model, able);
  return billSample(request, held_nano, able, (one) => costs.get(one) ?? 0n);
}

/** If the default quality has no price, a quality that has one. */
function onlyQuality({ price }: Model): { quality?: ImageQuality } {
  const listed = [...(price.per_image?.keys() ?? [])].map((key) => kindIn(key).quality);
  if (listed.includes('standard') || listed.includes('medium')) return {};
  const quality = QUALITIES.find((word) => listed.includes(word));
  return quality === undefined ? {} : { quality };
}
