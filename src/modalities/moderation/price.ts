import {
  isPlausible,
  maxTokenCost,
  readUsage,
  tokenCost,
  callCostsAt,
  type Bill,
  cappedByHold,
} from '../../billing/bill.js';
import { dearestCost } from '../../billing/rate-card.js';
import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import { countTokens } from '../../billing/tokens.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import type { Provider } from '../../core/provider.js';
import { NO_TOKENS, type TokenUsage } from '../../core/usage.js';
import type { ModerationCall } from './codec.js';

/** More tokens than an upstream adds around an input. */
const TEMPLATE_TOKENS = 64;
/** Tokens of an image, if neither model nor manifest says. */
const IMAGE_TOKENS = 8_192;

type ImageProvider = Pick<Provider, 'image_tokens'>;

/** The terms of a bill: the call, the price, and the hold (null if the call is free). */
export interface ModerationTerms {
  call: ModerationCall;
  model: Model;
  provider: ImageProvider;
  price: Price;
  hold_nano: bigint | null;
}

/** The texts of a call, and the number of its images. */
function partsOf({ input }: ModerationCall): { texts: string[]; images: number } {
  const all = typeof input === 'string' ? [input] : input;
  const texts = all.map((one) => (typeof one === 'string' ? one : one.text));
  const read = texts.filter((text) => text !== undefined);
  return { texts: read, images: texts.length - read.length };
}

/** The amount to hold before the call is sent: its max cost at any of the upstreams. */
export function moderationMaxCost(
  call: ModerationCall,
  { limits }: Pick<Model, 'limits'>,
  upstreams: readonly Upstream[],
): bigint {
  const { texts, images } = partsOf(call);
  const bytes = texts.reduce((sum, text) => sum + TEMPLATE_TOKENS + Buffer.byteLength(text), 0);
  return dearestCost(upstreams, (card, { provider }) => {
    const prompt_tokens = bytes + images * (TEMPLATE_TOKENS + imageTokens({ limits }, provider));
    return maxTokenCost({ prompt_tokens, completion_tokens: 0 }, card);
  });
}

/** The tokens of an image, for the max cost and for estimates. */
function imageTokens({ limits }: Pick<Model, 'limits'>, provider: ImageProvider): number {
  return limits.image_tokens ?? provider.image_tokens ?? IMAGE_TOKENS;
}

/**
 * Bills the reported usage if it is plausible, even beyond the hold. Otherwise, if tokens have a
 * price, bills a count of the texts, capped by the hold.
 */
export async function moderationBill(
  usage_reported: unknown,
  terms: ModerationTerms,
): Promise<Bill> {
  const { price, hold_nano } = terms;
  const usage = believable(usage_reported, terms);
  const costsOf = (used: TokenUsage) => callCostsAt(price, (card) => tokenCost(used, card));
  if (usage) return { usage, ...costsOf(usage), estimated: false };
  if (price.input_nano_per_million === 0n) {
    return { usage: NO_TOKENS, ...costsOf(NO_TOKENS), estimated: false };
  }
  const counted = await estimate(terms);
  const costs = costsOf(counted);
  const cost_nano = cappedByHold(costs.cost_nano, hold_nano);
  return { usage: counted, ...costs, cost_nano, estimated: true };
}

/** The reported usage, without output tokens: a verdict costs nothing. */
function believable(
  usage_reported: unknown,
  { call, model }: ModerationTerms,
): TokenUsage | undefined {
  const tokens = readUsage(usage_reported);
  if (!tokens || tokens.prompt_tokens === 0) return undefined;
  const usage = { prompt_tokens: tokens.prompt_tokens, completion_tokens: 0 };
  return isPlausible(usage, model.limits, call.results) ? usage : undefined;
}

async function estimate({ call, model, provider }: ModerationTerms): Promise<TokenUsage> {
  const { texts, images } = partsOf(call);
  const image_tokens = images * imageTokens(model, provider);
  const text_tokens = await countTokens(texts.join('\n'));
  return { prompt_tokens: text_tokens + image_tokens, completion_tokens: 0 };
}

const SAMPLE_TOKENS = 1_000;

/** One text of a thousand tokens. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  const input = 'word'.repeat(SAMPLE_TOKENS);
  const { upstreams } = model;
  const usage = { prompt_tokens: SAMPLE_TOKENS, completion_tokens: 0 };
  const held_nano = moderationMaxCost({ input, results: 1, fields: {} }, model, upstreams);
  const request = `moderation: ${input.length} bytes of text, ${SAMPLE_TOKENS} tokens`;
  return billSample(
    request,
    held_nano,
    upstreams,
    ({ price }) => callCostsAt(price, (card) => tokenCost(usage, card)).cost_nano,
  );
}
