import type { ImageCall, ImageQuality, MadeImage } from './codec.js';
import {
  addUsage,
  callsCost,
  isPlausible,
  maxTokenCost,
  readUsage,
  costsAt,
  type Bill,
  cappedByHold,
  hasTokenPrice,
} from '../../billing/bill.js';
import { cardOf, dearestCost } from '../../billing/rate-card.js';
import { countTokens } from '../../billing/tokens.js';
import { unpricedUnits } from '../../billing/unpriced.js';
import { NO_TOKENS, type TokenUsage } from '../../core/usage.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import { callsFor, type Provider } from '../../core/provider.js';

/** The max output tokens of one image, if the limits of the model have none. */
const MAX_TOKENS = 8_192;
/** More tokens than an upstream adds around a prompt. */
const TEMPLATE_TOKENS = 64;
/** Input tokens of an image to edit, if neither model nor manifest says. */
const INPUT_TOKENS = 8_192;
/** The most input tokens that `input_fidelity: high` adds for an image to edit. */
const HIGH_FIDELITY_TOKENS = 6_240;
/** Output tokens of an image of 1024 x 1024, for an estimate. `auto` counts as the dearest. */
const USUAL_TOKENS: Readonly<Record<ImageQuality, number>> = {
  low: 272,
  standard: 1_056,
  medium: 1_056,
  hd: 4_160,
  high: 4_160,
  auto: 4_160,
};
const USUAL_PIXELS = 1_024 ** 2;

/**
 * Qualities by whose price another one is sold that has none: names of the same quality, and for
 * `low` the next one above.
 */
const SOLD_AS: Partial<Record<ImageQuality, readonly ImageQuality[]>> = {
  low: ['standard', 'medium'],
  standard: ['medium'],
  medium: ['standard'],
  hd: ['high'],
  high: ['hd'],
};

type Kind = Pick<ImageCall, 'size' | 'any_size' | 'quality'>;

/** The terms of a bill: the call, the price, and the hold (null if the call is free). */
export interface ImageTerms {
  call: ImageCall;
  model: Model;
  provider?: Pick<Provider, 'image_tokens'>;
  price: Price;
  /** The service tier that the operator asks for. */
  asked_tier?: string | undefined;
  hold_nano: bigint | null;
}

/**
 * The price of one such image in nano-dollars, without its tokens; undefined if it has no price. If
 * the upstream chooses size or quality, this is the highest price. A price in tokens alone covers
 * all images.
 */
export function imagePrice(price: Price, kind: Kind): bigint | undefined {
  const { free, per_image } = price;
  if (free || !per_image) return 0n;
  return pricesOf(per_image, kind).reduce<bigint | undefined>(
    (dearest, nano) => (dearest === undefined || nano > dearest ? nano : dearest),
    undefined,
  );
}

/** The prices of such an image: several only if the upstream chooses its size or quality. */
function pricesOf(per_image: ReadonlyMap<string, bigint>, kind: Kind): bigint[] {
  const listed = [...per_image].map(([key, nano]) => ({ ...kindIn(key), nano }));
  const { size, any_size, quality } = kind;
  const text = size && `${size.width}x${size.height}`;
  const isListed = (word: ImageQuality): boolean => listed.some((one) => one.quality === word);
  const others = quality === undefined || isListed(quality) ? [] : (SOLD_AS[quality] ?? []);
  const word = others.find(isListed) ?? quality;
  return listed
    .filter((one) => any_size || one.size === undefined || one.size === text)
    .filter((one) => word === 'auto' || one.quality === undefined || one.quality === word)
    .map(({ nano }) => nano);
}

/** The parts of a key of `per_image`: `any`, `hd`, `1024x1024` or `hd/1024x1024`. */
export function kindIn(key: string): { quality?: string; size?: string } {
  const parts = key === 'any' ? [] : key.split('/');
  const size = parts.find((part) => part.includes('x'));
  const quality = parts.find((part) => !part.includes('x'));
  return { ...(size !== undefined && { size }), ...(quality !== undefined && { quality }) };
}

/** The kind of a delivered image: the upstream's choice, if that has a price. */
function kindOf(call: ImageCall, made: MadeImage, price: Price): Kind {
  const { size, any_size = false, quality } = call;
  const chosen: Kind = {
    size: any_size ? made.size : size,
    any_size: any_size && !made.size,
    quality: quality === 'auto' ? (made.quality ?? quality) : quality,
  };
  return imagePrice(price, chosen) === undefined ? call : chosen;
}

/** Whether the price depends on a choice that the upstream does not report. */
function isUnknownPrice({ free, per_image }: Price, kind: Kind): boolean {
  if (free || !per_image) return false;
  return new Set(pricesOf(per_image, kind)).size > 1;
}

/** The amount to hold before the call is sent: its max cost at any of the upstreams. */
export function imageMaxCost(
  call: ImageCall,
  model: Model,
  upstreams: readonly Upstream[],
): bigint {
  const kinds = Array.from({ length: call.n }, () => call);
  return dearestCost(
    upstreams,
    (card, { provider }) =>
      imagesCost(kinds, card) + maxTokenCost(maxTokens({ call, model, provider }), card),
    ({ provider }) => callsFor(provider, 'image', call.n),
  );
}

/**
 * Bills the delivered images, each as the upstream made it. A choice that the upstream does not
 * report counts as the dearest, and makes the bill an estimate. Tokens are billed by the reported
 * usage if it is plausible, even beyond the hold. Otherwise, if tokens have a price, they are
 * estimated, and the bill is capped by the hold.
 */
export async function imageBill(
  usages: readonly unknown[],
  delivered: readonly MadeImage[],
  terms: ImageTerms,
): Promise<Bill> {
  const { call, price, hold_nano } = terms;
  if (delivered.length === 0) return { usage: NO_TOKENS, cost_nano: 0n, estimated: false };
  const kinds = delivered.map((made) => kindOf(call, made, price));
  const reported = plausibleCalls(usages, terms);
  if (reported || !hasTokenPrice(price)) {
    const calls = reported ?? usages.map(() => NO_TOKENS);
    const estimated = kinds.some((kind) => isUnknownPrice(price, kind));
    const usage = calls.reduce(addUsage, NO_TOKENS);
    const unpriced = unpricedClasses(usage, price);
    const told = unpriced.length > 0 && { unpriced };
    return { usage, ...costsOf(kinds, calls, terms), estimated, ...told };
  }
  const usage = await estimate(kinds, terms);
  const costs = costsOf(kinds, [usage, ...usages.slice(1).map(() => NO_TOKENS)], terms);
  const cost_nano = cappedByHold(costs.cost_nano, hold_nano);
  return { usage, ...costs, cost_nano, estimated: true };
}

/**
 * What no price covers. Images that are read cost what text does not, unless the price tells them
 * apart. The price of output is that of images, where there is no other output.
 */
function unpricedClasses(usage: TokenUsage, price: Price): string[] {
  const { image_input_tokens = 0, image_output_tokens, completion_tokens } = usage;
  const isAllImages = image_output_tokens === completion_tokens;
  const units = unpricedUnits(isAllImages ? { ...usage, image_output_tokens: 0 } : usage, price);
  const own = price.image_input_nano_per_million ?? price.image_output_nano_per_million;
  const isTold = image_input_tokens > 0 && own === undefined && hasTokenPrice(price);
  return isTold && !price.free ? [...units, 'image_input_per_million'] : units;
}

/**
 * The usage of each call, if all are plausible: none absurdly large, and output tokens above zero
 * if tokens have a price. Output that is not split is that of the images.
 */
function plausibleCalls(
  usages: readonly unknown[],
  { call, model, price }: ImageTerms,
): TokenUsage[] | undefined {
  const calls = usages.flatMap((usage) => readUsage(usage) ?? []);
  if (calls.length < usages.length) return undefined;
  for (const tokens of calls) {
    const { completion_tokens: made, reasoning_tokens = 0 } = tokens;
    if (made > 0) tokens.image_output_tokens ??= made - reasoning_tokens;
  }
  const sum = calls.reduce(addUsage, NO_TOKENS);
  if (sum.completion_tokens === 0 && hasTokenPrice(price)) return undefined;
  return isPlausible(sum, model.limits, call.n) ? calls : undefined;
}

/** The max tokens. Each image may need a call of its own, which repeats the prompt. */
function maxTokens(terms: Tokenized): TokenUsage {
  const { prompt, n, fields } = terms.call;
  const { limits } = terms.model;
  const image_tokens = inputTokens(terms);
  const prompt_bytes = Buffer.byteLength(prompt) + Buffer.byteLength(JSON.stringify(fields));
  return {
    prompt_tokens: n * (TEMPLATE_TOKENS + prompt_bytes + image_tokens),
    completion_tokens: n * (limits.max_tokens ?? MAX_TOKENS),
    image_input_tokens: n * image_tokens,
  };
}

type Tokenized = Pick<ImageTerms, 'call' | 'model' | 'provider'>;

/** The input tokens of the images to edit, and of their mask. */
function inputTokens({ call, model, provider }: Tokenized): number {
  const { images = [], mask, own_fields, fields } = call;
  const each = model.limits.image_tokens ?? provider?.image_tokens ?? INPUT_TOKENS;
  const fidelity = own_fields?.input_fidelity ?? fields.input_fidelity;
  const more = fidelity === 'high' ? HIGH_FIDELITY_TOKENS * images.length : 0;
  return each * (images.length + (mask === undefined ? 0 : 1)) + more;
}

async function estimate(kinds: readonly Kind[], terms: Tokenized): Promise<TokenUsage> {
  const { call, model } = terms;
  const max = model.limits.max_tokens ?? MAX_TOKENS;
  let completion_tokens = 0;
  for (const { size, quality } of kinds) {
    const { width, height } = size ?? { width: 1_024, height: 1_024 };
    const usual = USUAL_TOKENS[quality ?? 'standard'];
    completion_tokens += Math.min(Math.ceil((usual * width * height) / USUAL_PIXELS), max);
  }
  const image_input_tokens = inputTokens(terms);
  const prompt_tokens = (await countTokens(call.prompt)) + image_input_tokens;
  return {
    prompt_tokens,
    completion_tokens,
    ...(image_input_tokens > 0 && { image_input_tokens }),
    image_output_tokens: completion_tokens,
  };
}

/** The costs of images, with the tokens and fees of the calls that made them. */
function costsOf(kinds: readonly Kind[], calls: readonly TokenUsage[], terms: ImageTerms) {
  return costsAt(terms.price, (price) => {
    const billed = calls.map((usage) => {
      const { tier = terms.asked_tier } = usage;
      return { usage, card: cardOf(price, { tier, prompt_tokens: 0 }) };
    });
    return imagesCost(kinds, price) + callsCost(billed);
  });
}

function imagesCost(kinds: readonly Kind[], price: Price): bigint {
  return kinds.reduce((sum, kind) => sum + (imagePrice(price, kind) ?? 0n), 0n);
}
