import type { Bill } from '../../billing/bill.js';
import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { readDollars } from '../../yaml/dollars.js';
import type { Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import type { SpeechCall } from './codec.js';

type Said = Pick<SpeechCall, 'input' | 'instructions'>;

/** Nano-dollars of a million characters. */
export function readCharacterPrice(
  source: Source,
  pointer: string,
  price: PartialLoad<PriceEntry>,
): Partial<Price> {
  const entry = typeof price === 'object' ? price.per_million_characters : undefined;
  return entry === undefined ? {} : { per_million_characters: readDollars(source, pointer) };
}

/** Characters as Unicode counts them, of the text and of the instructions to the voice. */
export function charactersOf({ input, instructions = '' }: Said): number {
  let count = 0;
  for (const text of [input, instructions]) for (const _ of text) count += 1;
  return count;
}

const MILLION = 1_000_000n;

/** What the call costs, which is known before it leaves; rounded up to the next nano-dollar. */
function speechCost(characters: number, { free, per_million_characters = 0n }: Price): bigint {
  return free ? 0n : (BigInt(characters) * per_million_characters + MILLION - 1n) / MILLION;
}

/** What must be held before the call leaves: its price at the dearest upstream. */
export function speechMaxCost(call: Said, upstreams: readonly Upstream[]): bigint {
  const characters = charactersOf(call);
  const costs = upstreams.map(({ price }) => speechCost(characters, price));
  return costs.reduce((dearest, cost) => (cost > dearest ? cost : dearest), 0n);
}

export function speechBill(call: Said, price: Price): Bill {
  const characters = charactersOf(call);
  return {
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    cost_nano: speechCost(characters, price),
    estimated: false,
    counts: { characters },
  };
}

const SAMPLE_CHARACTERS = 1_000;

/** A thousand characters. */
export async function sampleBill({ upstreams }: Model): Promise<SampleBill> {
  const call = { input: 'a'.repeat(SAMPLE_CHARACTERS), instructions: undefined };
  const held_nano = speechMaxCost(call, upstreams);
  const request = `speech: ${SAMPLE_CHARACTERS} characters`;
  return billSample(
    request,
    held_nano,
    upstreams,
    ({ price }) => speechBill(call, price).cost_nano,
  );
}
