import { mostSeconds } from '../../lib/audio-length.js';
import { divideUp } from '../../lib/money.js';
import {
  isPlausible,
  maxTokenCost,
  readUsage,
  tokenCost,
  callCostsAt,
  type Bill,
  cappedByHold,
  hasTokenPrice,
} from '../../billing/bill.js';
import { dearestCost } from '../../billing/rate-card.js';
import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import { countTokens } from '../../billing/tokens.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import { NO_TOKENS, type TokenUsage } from '../../core/usage.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { readDollars } from '../../yaml/dollars.js';
import type { Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import type { TranscriptionCall, TranscriptReply } from './codec.js';

/** The lowest bit rate of speech, 8 kbit/s. It bounds the length of a file by its bytes. */
const MIN_BYTES_PER_SECOND = 1_000;
/** The usual bit rate of speech, 32 kbit/s, for an estimate. */
const USUAL_BYTES_PER_SECOND = 4_000;
/** The longest audio, a day: no upstream accepts longer files. */
const MAX_SECONDS = 86_400;
/** The most audio tokens of a second, and the usual number, for an estimate. */
const MAX_TOKENS_PER_SECOND = 32;
const USUAL_TOKENS_PER_SECOND = 10;
/** The most tokens in the transcript of a second: nobody speaks faster. */
const MAX_TEXT_TOKENS_PER_SECOND = 10;
/** More tokens than an upstream adds around a prompt. */
const TEMPLATE_TOKENS = 64;
const MINUTE_MS = 60_000n;

/** The terms of a bill: the call, the price, and the hold (null if the call is free). */
export interface TranscriptionTerms {
  call: TranscriptionCall;
  model: Model;
  price: Price;
  hold_nano: bigint | null;
}

/** Nano-dollars of a minute of audio. */
export function readMinutePrice(
  source: Source,
  pointer: string,
  price: PartialLoad<PriceEntry>,
): Partial<Price> {
  const entry = typeof price === 'object' ? price.per_audio_minute : undefined;
  return entry === undefined ? {} : { per_audio_minute: readDollars(source, pointer) };
}

/** The cost by the millisecond, and of one at least, rounded up to the next nano-dollar. */
function minuteCost(seconds: number, { free, per_audio_minute = 0n }: Price): bigint {
  const ms = BigInt(Math.max(1, Math.round(seconds * 1_000)));
  return free ? 0n : divideUp(ms * per_audio_minute, MINUTE_MS);
}

/** The amount to hold before the call is sent: its max cost at any of the upstreams. */
export function transcriptionMaxCost(
  call: TranscriptionCall,
  { limits }: Pick<Model, 'limits'>,
  upstreams: readonly Upstream[],
): bigint {
  const seconds = maxSeconds(call, limits.audio_seconds);
  const audio_input_tokens = Math.ceil(seconds * MAX_TOKENS_PER_SECOND);
  const fields_bytes = Buffer.byteLength(JSON.stringify(call.fields));
  const usage = {
    prompt_tokens: audio_input_tokens + TEMPLATE_TOKENS + fields_bytes,
    completion_tokens:
      limits.max_tokens ?? TEMPLATE_TOKENS + Math.ceil(seconds * MAX_TEXT_TOKENS_PER_SECOND),
    audio_input_tokens,
  };
  return dearestCost(upstreams, (card) => minuteCost(seconds, card) + maxTokenCost(usage, card));
}

/**
 * The longest the audio can be: by its header, else by its packets, and by its bytes at the lowest
 * bit rate of speech, or of silence where the packets could not be read.
 */
function maxSeconds(
  { seconds, played_seconds = 0, is_unread, audio }: TranscriptionCall,
  limit = MAX_SECONDS,
): number {
  const by_bytes = audio.length / MIN_BYTES_PER_SECOND;
  const longest = is_unread ? mostSeconds(audio, audio.length) : Math.max(played_seconds, by_bytes);
  return Math.max(1, seconds ?? Math.min(limit, MAX_SECONDS, longest));
}

/**
 * Bills the seconds and tokens that the upstream reports if they are plausible, even beyond the
 * hold. Otherwise bills the length in the header of the audio, or that of its packets, or an
 * estimate, capped by the hold.
 */
export async function transcriptionBill(
  reply: TranscriptReply,
  terms: TranscriptionTerms,
): Promise<Bill> {
  const { call, price, hold_nano } = terms;
  const reported_seconds = believableSeconds(reply.seconds);
  const { seconds: known_seconds = call.played_seconds, audio } = call;
  const seconds = reported_seconds ?? known_seconds ?? audio.length / USUAL_BYTES_PER_SECOND;
  const reported_usage = believableUsage(reply.usage, terms);
  const bySecond = price.per_audio_minute !== undefined;
  const estimated =
    (bySecond && reported_seconds === undefined) ||
    (hasTokenPrice(price) && reported_usage === undefined);
  const usage = hasTokenPrice(price)
    ? (reported_usage ?? (await estimate(seconds, reply)))
    : NO_TOKENS;
  const costs = callCostsAt(price, (card) => minuteCost(seconds, card) + tokenCost(usage, card));
  const { cost_nano: cost } = costs;
  const cost_nano = estimated ? cappedByHold(cost, hold_nano) : cost;
  return { usage, ...costs, cost_nano, estimated, counts: { audio_seconds: rounded(seconds) } };
}

/** The seconds rounded to milliseconds, by which they are charged. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

/** A length that an upstream reports, if there is such a length. */
export function believableSeconds(reported: unknown): number | undefined {
  return typeof reported === 'number' && reported > 0 && reported <= MAX_SECONDS
    ? reported
    : undefined;
}

function believableUsage(reported: unknown, { model }: TranscriptionTerms): TokenUsage | undefined {
  const tokens = readUsage(reported);
  return tokens && tokens.prompt_tokens > 0 && isPlausible(tokens, model.limits, 1)
    ? tokens
    : undefined;
}

async function estimate(seconds: number, { text }: TranscriptReply): Promise<TokenUsage> {
  const audio_input_tokens = Math.ceil(seconds * USUAL_TOKENS_PER_SECOND);
  const completion_tokens = await countTokens(text);
  return { prompt_tokens: audio_input_tokens, audio_input_tokens, completion_tokens };
}

const SAMPLE_SECONDS = 60;
const SAMPLE_WORDS = 150;

/** A minute of audio. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  const call: TranscriptionCall = {
    task: 'transcribe',
    audio: Buffer.alloc(0),
    kind: { type: 'audio/wav', extension: 'wav' },
    seconds: SAMPLE_SECONDS,
    format: 'json',
    granularities: [],
    fields: {},
  };
  const { upstreams } = model;
  const prompt_tokens = SAMPLE_SECONDS * USUAL_TOKENS_PER_SECOND;
  const usage = {
    prompt_tokens,
    completion_tokens: SAMPLE_WORDS,
    prompt_tokens_details: { audio_tokens: prompt_tokens },
  };
  const reply = { text: '', seconds: SAMPLE_SECONDS, usage };
  const costs = new Map<Upstream, bigint>();
  for (const upstream of upstreams) {
    const terms = { call, model, price: upstream.price, hold_nano: null };
    costs.set(upstream, (await transcriptionBill(reply, terms)).cost_nano);
  }
  const held_nano = transcriptionMaxCost(call, model, upstreams);
  const request = `transcription: a minute of audio, ${SAMPLE_WORDS} tokens of text`;
  return billSample(request, held_nano, upstreams, (one) => costs.get(one) ?? 0n);
}
