import type { ImageCall } from './codec.js';
import { countTokens } from '../../billing/tokens.js';
import type { TokenUsage } from '../../core/usage.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import {
  isPlausible,
  maxTokenCost,
  readUsage,
  sumUsage,
  tokenCost,
  type Bill,
} from '../../billing/bill.js';

/** Output tokens of one image at the most, where the model's limits do not say. */
const MAX_TOKENS = 8_192;
/** What an upstream may add around a prompt, and more than that. */
const TEMPLATE_TOKENS = 64;
/** Output tokens of an image of 1024 x 1024, for an estimate. */
const USUAL_TOKENS = { standard: 1_056, hd: 4_160 };
const USUAL_PIXELS = 1_024 ** 2;

type Kind = Pick<ImageCall, 'size' | 'quality'>;

/** Who bills for images: the call, at whose price, under which hold (null where it is free). */
export interface ImageTerms {
  call: ImageCall;
  model: Model;
  price: Price;
  hold_nano: bigint | null;
}

/**
 * Nano-dollars of one such image, its tokens aside; undefined where the price does not cover it.
 * A price in tokens alone covers all images.
 */
export function imagePrice(price: Price, { size, quality }: Kind): bigint | undefined {
  const { free, per_image } = price;
  if (free || !per_image) return 0n;
  const bySize = size && per_image.get(`${size.width}x${size.height}`);
  return per_image.get('any') ?? bySize ?? (quality && per_image.get(quality));
}

/** What must be held before the call leaves: at the dearest upstream that may make the images. */
export function imageMaxCost(
  call: ImageCall,
  model: Model,
  upstreams: readonly Upstream[],
): bigint {
  const tokens = mostTokens(call, model);
  const costs = upstreams.map(
    ({ price }) => imagesCost(call, call.n, price) + maxTokenCost(tokens, price),
  );
  return costs.reduce((dearest, cost) => (cost > dearest ? cost : dearest), 0n);
}

/**
 * What the delivered images cost. Tokens count by the upstream's own usage where it makes sense,
 * whatever it costs, else by an estimate where they cost anything, which never passes the hold.
 */
export async function imageBill(
  usages: readonly unknown[],
  delivered: number,
  terms: ImageTerms,
): Promise<Bill> {
  const { call, model, price, hold_nano } = terms;
  if (delivered === 0) return { usage: NO_TOKENS, cost_nano: 0n, estimated: false };
  const said = believed(usages, terms);
  if (said || !hasTokenPrice(price)) {
    const usage = said ?? NO_TOKENS;
    return { usage, cost_nano: costOf(call, delivered, usage, price), estimated: false };
  }
  const usage = await estimate(call, delivered, model);
  const cost = costOf(call, delivered, usage, price);
  const cost_nano = hold_nano !== null && cost > hold_nano ? hold_nano : cost;
  return { usage, cost_nano, estimated: true };
}

const NO_TOKENS: TokenUsage = { prompt_tokens: 0, completion_tokens: 0 };

/**
 * The sum over all calls, if all of them make sense: nothing absurdly large, and not nothing where
 * tokens are what images are sold by.
 */
function believed(
  usages: readonly unknown[],
  { call, model, price }: ImageTerms,
): TokenUsage | undefined {
  let sum = NO_TOKENS;
  for (const usage of usages) {
    const tokens = readUsage(usage);
    if (!tokens) return undefined;
    sum = sumUsage(sum, tokens);
  }
  if (sum.completion_tokens === 0 && hasTokenPrice(price)) return undefined;
  return isPlausible(sum, model.limits, call.n) ? sum : undefined;
}

/** Every image may have a call of its own, and so its own prompt. */
function mostTokens({ prompt, n, fields }: ImageCall, { limits }: Model): TokenUsage {
  const prompt_bytes = Buffer.byteLength(prompt) + Buffer.byteLength(JSON.stringify(fields));
  return {
    prompt_tokens: n * (TEMPLATE_TOKENS + prompt_bytes),
    completion_tokens: n * (limits.max_tokens ?? MAX_TOKENS),
  };
}

async function estimate(call: ImageCall, delivered: number, model: Model): Promise<TokenUsage> {
  const { width, height } = call.size ?? { width: 1_024, height: 1_024 };
  const usual = USUAL_TOKENS[call.quality ?? 'standard'];
  const one = Math.ceil((usual * width * height) / USUAL_PIXELS);
  const most = model.limits.max_tokens ?? MAX_TOKENS;
  return {
    prompt_tokens: await countTokens(call.prompt),
    completion_tokens: delivered * Math.min(one, most),
  };
}

function costOf(call: ImageCall, images: number, tokens: TokenUsage, price: Price): bigint {
  return imagesCost(call, images, price) + tokenCost(tokens, price);
}

function imagesCost(call: ImageCall, images: number, price: Price): bigint {
  return BigInt(images) * (imagePrice(price, call) ?? 0n);
}

function hasTokenPrice({ input_nano_per_million, output_nano_per_million }: Price): boolean {
  return input_nano_per_million > 0n || output_nano_per_million > 0n;
}
