import { chatWork } from './chat/formats/openai-request.js';
import { imageWork, priced } from './image/request.js';
import type { Work } from '../pipeline/stage.js';
import { fitting, videoWork } from './video/request.js';
import { boundOf } from './max-cost.js';
import { imageBill } from './image/price.js';
import { tokenCost } from '../billing/cost.js';
import { videoBound } from './video/price.js';
import type { Resolution } from '../core/task.js';
import type { Model, Upstream } from '../core/model.js';

/** What one ordinary request to a model would cost, worked out as the gateway works it out. */
export interface WorkedBill {
  /** What is asked for, in words. */
  request: string;
  /** Set aside before the request leaves: the most it can cost at any upstream that may take it. */
  held_nano: bigint;
  /** What each upstream's answer would be charged. */
  charges: { provider: string; cost_nano: bigint }[];
}

const PROMPT_TOKENS = 1_000;
const ANSWER_TOKENS = 500;
const PROMPT = 'A red fox in the snow';

/** One for each of chat, image and video that the model does. */
export async function workedBills(model: Model): Promise<WorkedBill[]> {
  const bills: WorkedBill[] = [];
  if (model.capabilities.has('chat')) bills.push(chatBill(model));
  if (model.capabilities.has('image')) bills.push(await pictureBill(model));
  if (model.capabilities.has('video')) bills.push(filmBill(model));
  return bills;
}

function chatBill(model: Model): WorkedBill {
  const content = 'word'.repeat(PROMPT_TOKENS);
  const completion_tokens = Math.min(ANSWER_TOKENS, model.limits.max_tokens ?? ANSWER_TOKENS);
  const messages = [{ role: 'user' as const, content }];
  const work = chatWork({ model: model.id, messages, max_tokens: completion_tokens }, model);
  const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens };
  const request =
    `chat: ${content.length} bytes of text that turn out to be ${PROMPT_TOKENS} tokens, ` +
    `and an answer of ${completion_tokens}, with "max_tokens": ${completion_tokens}`;
  return billOf(request, work, model, model.upstreams, ({ price }) => tokenCost(usage, price));
}

async function pictureBill(model: Model): Promise<WorkedBill> {
  const { per_image } = model.price;
  const quality =
    per_image?.has('hd') && !per_image.has('standard') ? { quality: 'hd' as const } : {};
  const work = imageWork({ model: model.id, prompt: PROMPT, ...quality }, model);
  const able = priced(work.call, model);
  const costs = new Map<Upstream, bigint>();
  for (const upstream of able) {
    const terms = { call: work.call, model, price: upstream.price, hold_nano: null };
    costs.set(upstream, (await imageBill([undefined], 1, terms)).cost_nano);
  }
  const { size } = work.call;
  const kind = [size && `${size.width}x${size.height}`, work.call.quality].filter(Boolean);
  const request = ['image: one picture', ...kind].join(', ');
  return billOf(request, work, model, able, (one) => costs.get(one) ?? 0n);
}

function filmBill(model: Model): WorkedBill {
  const kinds = model.upstreams.flatMap(({ price }) => [...(price.per_video_second?.keys() ?? [])]);
  const { resolutions } = model.limits.video ?? {};
  const parts = kinds.map((kind) => kind.split('/') as [Resolution, string]);
  const [resolution, sound] = parts.find(([one]) => resolutions?.includes(one) ?? true) ?? [
    resolutions?.[0] ?? '720p',
    'audio',
  ];
  const parameters = { resolution, generate_audio: sound === 'audio' };
  const work = videoWork({ prompt: PROMPT, parameters }, model);
  const able = fitting(work.call, model.upstreams);
  const request = `video: ${work.call.duration_seconds} seconds of ${resolution}, ${sound}`;
  return billOf(request, work, model, able, (one) => videoBound(work.call, [one]));
}

function billOf(
  request: string,
  work: Work,
  model: Model,
  upstreams: readonly Upstream[],
  costOf: (upstream: Upstream) => bigint,
): WorkedBill {
  const charges = upstreams.map((upstream) => ({
    provider: upstream.provider.name,
    cost_nano: costOf(upstream),
  }));
  return { request, held_nano: boundOf(work, model, upstreams), charges };
}
