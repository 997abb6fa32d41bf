import { isPlausible, maxTokenCost, readUsage, tokenCost, type Bill } from '../../billing/bill.js';
import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import { countTokens } from '../../billing/tokens.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import type { TokenUsage } from '../../core/usage.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { readDollars } from '../../yaml/dollars.js';
import type { Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import type { TranscriptionCall, TranscriptReply } from './codec.js';

/** The least that speech is coded at, 8 kbit/s: audio of so many bytes plays no longer. */
const LEAST_BYTES_PER_SECOND = 1_000;
/** What speech is usually coded at, 32 kbit/s, for an estimate. */
const USUAL_BYTES_PER_SECOND = 4_000;
/** No upstream listens for longer than a day to one file. */
const MOST_SECONDS = 86_400;
/** Audio tokens of a second at the most, and what an estimate takes them for. */
const MAX_TOKENS_PER_SECOND = 32;
const USUAL_TOKENS_PER_SECOND = 10;
/** Tokens of the transcript of a second at the most: nobody speaks faster. */
const MAX_TEXT_TOKENS_PER_SECOND = 10;
/** What an upstream may add around a prompt, and more than that. */
const TEMPLATE_TOKENS = 64;
const MINUTE_MS = 60_000n;

/** Who bills for a transcript: the call, at whose price, under which hold (null where free). */
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

/** By the millisecond, rounded up to the next nano-dollar. */
function minuteCost(seconds: number, { free, per_audio_minute = 0n }: Price): bigint {
  const ms = BigInt(Math.round(seconds * 1_000));
  return free ? 0n : (ms * per_audio_minute + MINUTE_MS - 1n) / MINUTE_MS;
}

/** What must be held before the call leaves: at the dearest upstream that may answer it. */
export function transcriptionMaxCost(
  call: TranscriptionCall,
  { limits }: Pick<Model, 'limits'>,
  upstreams: readonly Upstream[],
): bigint {
  const seconds = mostSeconds(call, limits.audio_seconds);
  const audio_input_tokens = Math.ceil(seconds * MAX_TOKENS_PER_SECOND);
  const fields_bytes = Buffer.byteLength(JSON.stringify(call.fields));
  const usage = {
    prompt_tokens: audio_input_tokens + TEMPLATE_TOKENS + fields_bytes,
    completion_tokens:
      limits.max_tokens ?? TEMPLATE_TOKENS + Math.ceil(seconds * MAX_TEXT_TOKENS_PER_SECOND),
    audio_input_tokens,
  };
  const costs = upstreams.map(
    ({ price }) => minuteCost(seconds, price) + maxTokenCost(usage, price),
  );
  return costs.reduce((dearest, cost) => (cost > dearest ? cost : dearest), 0n);
}

/** How long the audio can play: by its own figures, else by its bytes at the least rate. */
function mostSeconds({ seconds, audio }: TranscriptionCall, limit = MOST_SECONDS): number {
  const most = seconds ?? Math.min(limit, audio.length / LEAST_BYTES_PER_SECOND);
  return Math.max(1, most);
}

/**
 * By the seconds and the tokens that the upstream reports, where they make sense, whatever they
 * cost; else by the audio's own figures, or an estimate, neither of which passes the hold.
 */
export async function transcriptionBill(
  reply: TranscriptReply,
  terms: TranscriptionTerms,
): Promise<Bill> {
  const { call, price, hold_nano } = terms;
  const said_seconds = believableSeconds(reply.seconds);
  const seconds = said_seconds ?? call.seconds ?? call.audio.length / USUAL_BYTES_PER_SECOND;
  const said_usage = believableUsage(reply.usage, terms);
  const bySecond = price.per_audio_minute !== undefined;
  const estimated =
    (bySecond && said_seconds === undefined) || (hasTokenPrice(price) && said_usage === undefined);
  const usage = hasTokenPrice(price) ? (said_usage ?? (await estimate(seconds, reply))) : NOTHING;
  const cost = minuteCost(seconds, price) + tokenCost(usage, price);
  const cost_nano = estimated && hold_nano !== null && cost > hold_nano ? hold_nano : cost;
  return { usage, cost_nano, estimated, counts: { audio_seconds: rounded(seconds) } };
}

const NOTHING: TokenUsage = { prompt_tokens: 0, completion_tokens: 0 };

/** To the millisecond, by which it is charged. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

function believableSeconds(reported: unknown): number | undefined {
  return typeof reported === 'number' && reported > 0 && reported <= MOST_SECONDS
    ? reported
    : undefined;
}

function believableUsage(reported: unknown, { model }: TranscriptionTerms): TokenUsage | undefined {
  const tokens = readUsage(reported);
  return tokens && tokens.prompt_tokens > 0 && isPlausible(tokens, model.limits, 1)
    ? tokens
    : undefined;
}

function hasTokenPrice({ input_nano_per_million, output_nano_per_million }: Price): boolean {
  return input_nano_per_million > 0n || output_nano_per_million > 0n;
}

async function estimate(seconds: number, { text }: TranscriptReply): Promise<TokenUsage> {
  const audio_input_tokens = Math.ceil(seconds * USUAL_TOKENS_PER_SECOND);
  const completion_tokens = await countTokens(text);
  return { prompt_tokens: audio_input_tokens, audio_input_tokens, completion_tokens };
}

const SAMPLE_SECONDS = 60;
const SAMPLE_WORDS = 150;

/** A minute whose length its file tells. */
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
