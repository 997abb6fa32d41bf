import { expect } from 'chai';
import fc from 'fast-check';
import type { Bill } from '../../src/billing/bill.js';
import { cardOf, priceAtTime } from '../../src/billing/rate-card.js';
import { priceAt } from '../../src/config/price-terms.js';
import type { Model, OffPeakPrices, Price, Upstream } from '../../src/core/model.js';
import type { ImageCall } from '../../src/modalities/image/codec.js';
import type { TranscriptionCall } from '../../src/modalities/transcription/codec.js';
import type { VideoCall } from '../../src/modalities/video/codec.js';
import { embeddingBill, embeddingMaxCost } from '../../src/modalities/embedding/price.js';
import { imageBill, imageMaxCost } from '../../src/modalities/image/price.js';
import { moderationBill, moderationMaxCost } from '../../src/modalities/moderation/price.js';
import { speechBill, speechMaxCost } from '../../src/modalities/speech/price.js';
import {
  transcriptionBill,
  transcriptionMaxCost,
} from '../../src/modalities/transcription/price.js';
import { taskTarget, videoMaxCost } from '../../src/modalities/video/price.js';
import { taskBill } from '../../src/modalities/video/result.js';
import type { Task } from '../../src/store/tasks/task-types.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';
import { minute } from './helpers/rate-cards.js';

const MAX_RESULTS = 2;
const operation = { path: '', codec: undefined, max: MAX_RESULTS };
const provider = providerAt('http://127.0.0.1', {
  image_tokens: 1,
  operations: new Map([
    ['image', operation],
    ['video', operation],
  ]),
});
const limits = { max_tokens: 900, context: undefined, image_tokens: 1 };
const model = { id: 'm', limits } as unknown as Model;
const nano = fc.bigInt({ min: 0n, max: 10n ** 12n });
/** The most of a unit that a call uses, such as its tokens. */
const MOST = 900;

/** What one kind of work costs: the hold, the bill, and the same by a model of plain sums. */
interface Billed {
  held_nano: bigint;
  bill: Bill;
  sumAt: (card: Price) => bigint;
}

interface Call {
  upstream: Upstream;
  began_ms: number;
  /** So many tokens, characters or milliseconds, each way. */
  used: number;
  out: number;
  /** Images or videos. */
  results: number;
}

interface Work {
  /** The units by which it is priced. */
  units: Partial<Record<keyof Price, fc.Arbitrary<unknown>>>;
  bill: (call: Call, terms: { price: Price; hold_nano: bigint | null }) => Promise<Billed>;
}

const up = (amount: bigint, divisor: bigint): bigint => (amount + divisor - 1n) / divisor;
const tokensAt = (count: number, price: bigint): bigint => up(BigInt(count) * price, 1_000_000n);
const fee = ({ per_request = 0n }: Price): bigint => per_request;
const INPUT = { input_nano_per_million: nano };
const BOTH = { ...INPUT, output_nano_per_million: nano };
const kinds = fc.tuple(nano, nano);

const WORK: Record<string, Work> = {
  embedding: {
    units: INPUT,
    bill: async ({ upstream, used }, terms) => {
      const inputs = [Array.from({ length: MOST }, () => 1)];
      const call = { inputs, dimensions: undefined, encoding_format: 'float', fields: {} } as const;
      const usage = { prompt_tokens: used + 1, completion_tokens: 0 };
      return {
        held_nano: embeddingMaxCost(call, [upstream]),
        bill: await embeddingBill(usage, { call, model, ...terms }),
        sumAt: (card) => tokensAt(used + 1, card.input_nano_per_million) + fee(card),
      };
    },
  },
  moderation: {
    units: INPUT,
    bill: async ({ upstream, used }, terms) => {
      const call = { input: 'a'.repeat(MOST), results: 1, fields: {} };
      const usage = { prompt_tokens: used + 1, completion_tokens: 0 };
      return {
        held_nano: moderationMaxCost(call, model, [upstream]),
        bill: await moderationBill(usage, { call, model, provider, ...terms }),
        sumAt: (card) => tokensAt(used + 1, card.input_nano_per_million) + fee(card),
      };
    },
  },
  speech: {
    units: { per_million_characters: nano },
    bill: async ({ upstream, used }, { price }) => {
      const call = { input: 'a'.repeat(used), instructions: undefined };
      return {
        held_nano: speechMaxCost(call, [upstream]),
        bill: speechBill(call, price),
        sumAt: (card) => tokensAt(used, card.per_million_characters ?? 0n) + fee(card),
      };
    },
  },
  transcription: {
    units: { per_audio_minute: nano, ...BOTH },
    bill: async ({ upstream, used, out }, terms) => {
      const call: TranscriptionCall = {
        task: 'transcribe',
        audio: Buffer.alloc(0),
        kind: { type: 'audio/wav', extension: 'wav' },
        seconds: 100,
        format: 'json',
        granularities: [],
        fields: {},
      };
      const usage = { prompt_tokens: used + 1, completion_tokens: out };
      const reply = { text: '', seconds: (used + 1) / 1_000, usage };
      const { price } = terms;
      const hasTokens = price.input_nano_per_million + price.output_nano_per_million > 0n;
      return {
        held_nano: transcriptionMaxCost(call, model, [upstream]),
        bill: await transcriptionBill(reply, { call, model, ...terms }),
        sumAt: (card) => {
          const input = BigInt(used + 1) * card.input_nano_per_million;
          const tokens = input + BigInt(out) * card.output_nano_per_million;
          const minutes = up(BigInt(used + 1) * (card.per_audio_minute ?? 0n), 60_000n);
          return minutes + (hasTokens ? up(tokens, 1_000_000n) : 0n) + fee(card);
        },
      };
    },
  },
  image: {
    units: {
      ...BOTH,
      per_image: kinds.map(([low, high]) => new Map(Object.entries({ low, high }))),
    },
    bill: async ({ upstream, used, out, results }, terms) => {
      const call: ImageCall = {
        prompt: 'a'.repeat(MOST),
        n: results,
        size: undefined,
        quality: 'high',
        style: undefined,
        response_format: 'url',
        fields: {},
      };
      const calls = Math.ceil(results / MAX_RESULTS);
      const tiers = ['flex', 'default'];
      const usages = Array.from({ length: calls }, (_, at) => ({
        prompt_tokens: used,
        completion_tokens: out + 1,
        service_tier: tiers[at % 2],
      }));
      const made = Array.from({ length: results }, () => ({}));
      const { price } = terms;
      const hasTokens = price.input_nano_per_million + price.output_nano_per_million > 0n;
      return {
        held_nano: imageMaxCost(call, model, [upstream]),
        bill: await imageBill(usages, made, { call, model, provider, ...terms }),
        sumAt: (card) => {
          let tokens = 0n;
          for (const { service_tier: tier } of usages) {
            const own = cardOf(card, { tier, prompt_tokens: used });
            tokens += BigInt(used) * own.input_nano_per_million;
            tokens += BigInt(out + 1) * own.output_nano_per_million;
          }
          const images = BigInt(results) * (card.per_image?.get('high') ?? 0n);
          const costs = images + (hasTokens ? up(tokens, 1_000_000n) : 0n);
          return costs + BigInt(calls) * fee(card);
        },
      };
    },
  },
  video: {
    units: {
      per_video_second: kinds.map(
        ([silent, audio]) =>
          new Map([
            ['720p/silent', silent],
            ['720p/audio', audio],
          ]),
      ),
    },
    bill: async ({ upstream, began_ms, results }) => {
      const call: VideoCall = {
        prompt: 'x',
        aspect_ratio: '16:9',
        resolution: '720p',
        duration_seconds: 7,
        generate_audio: true,
        sample_count: results,
        negative_prompt: undefined,
        image: undefined,
      };
      const jobs = Array.from({ length: Math.ceil(results / MAX_RESULTS) }, (_, at) => {
        return { count: MAX_RESULTS, status: at === 1 ? 'FAILED' : 'COMPLETED', state: {} };
      });
      const done = jobs.filter(({ status }) => status === 'COMPLETED').length;
      const videos = Math.min(done * MAX_RESULTS, results);
      const target = taskTarget(upstream, call, began_ms);
      const task = { ...target, call, jobs, videos, status: 'COMPLETED', content_id: null };
      return {
        held_nano: videoMaxCost(call, [upstream]),
        bill: taskBill(task as unknown as Task),
        sumAt: (card) =>
          BigInt(7 * videos) * (card.per_video_second?.get('720p/audio') ?? 0n) +
          BigInt(done) * fee(card),
      };
    },
  },
};

/** A price in those units, with a fee and hours in which any of them may be another. */
function pricesIn(units: Work['units']): fc.Arbitrary<Price> {
  const given = fc.record(units) as fc.Arbitrary<Partial<Price>>;
  const some = fc.record(units, { requiredKeys: [] }) as fc.Arbitrary<Partial<Price>>;
  const zone = fc.constantFrom('UTC', 'Asia/Shanghai');
  const hours = fc
    .tuple(fc.record({ from_minute: minute, to_minute: minute, zone }), some)
    .map(([times, prices]): OffPeakPrices => ({ ...times, ...prices }));
  const off_peak = fc.array(hours, { minLength: 1, maxLength: 2 });
  const flex = fc.record(BOTH, { requiredKeys: [] });
  return fc
    .tuple(
      given,
      fc.option(nano),
      fc.option(off_peak),
      fc.option(flex),
      fc.integer({ min: 0, max: 99 }),
    )
    .map(([prices, per_request, blocks, tier, percent]) => {
      const price: Price = {
        free: false,
        input_nano_per_million: 0n,
        output_nano_per_million: 0n,
        ...prices,
        ...(per_request !== null && { per_request }),
        ...(blocks && { off_peak: blocks }),
        ...(tier && { tiers: new Map([['flex', tier]]) }),
      };
      return priceAt(price, undefined, BigInt(percent) * 100n) ?? price;
    });
}

describe('the price of work other than chat', () => {
  for (const [name, { units, bill: billOf }] of Object.entries(WORK)) {
    it(`of ${name} is the sum of its units and fees of the hour, within the hold`, async () => {
      const calls = fc.record({
        began_ms: fc.date({ min: new Date(0), noInvalidDate: true }).map((date) => +date),
        used: fc.nat({ max: MOST - 1 }),
        out: fc.nat({ max: 8 }),
        results: fc.integer({ min: 1, max: 5 }),
      });
      await fc.assert(
        fc.asyncProperty(pricesIn(units), calls, async (price, call) => {
          // The operator asks for the tier, so that it may come.
          const upstream = upstreamAt(provider, { price, set: { service_tier: 'flex' } });
          const terms = { price: priceAtTime(price, call.began_ms), hold_nano: null };
          const { held_nano, bill, sumAt } = await billOf({ upstream, ...call }, terms);
          const sumOf = (whole: Price): bigint => {
            const { off_peak } = whole;
            const card = cardOf(whole, { began_ms: call.began_ms, prompt_tokens: 0 });
            // Hours come over tiers.
            const tiers = [...(whole.tiers ?? [])].map(([tier]) => {
              const own = cardOf(whole, { tier, began_ms: call.began_ms, prompt_tokens: 0 });
              return [tier, own] as const;
            });
            return sumAt({ ...card, ...(off_peak && { off_peak: [] }), tiers: new Map(tiers) });
          };
          const { cost_nano, upstream_cost_nano = cost_nano, estimated } = bill;
          expect(estimated).to.equal(false);
          expect(cost_nano).to.equal(sumOf(price));
          expect(upstream_cost_nano).to.equal(sumOf(price.cost ?? price));
          expect(cost_nano <= held_nano, `${cost_nano} of ${held_nano}`).to.equal(true);
        }),
        { numRuns: 300 },
      );
    });
  }
});
