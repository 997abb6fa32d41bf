import { divideUp } from '../../lib/money.js';
import { callCostsAt, type Bill } from '../../billing/bill.js';
import { dearestCost } from '../../billing/rate-card.js';
import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import type { Model, Price, Upstream } from '../../core/model.js';
import { NO_TOKENS } from '../../core/usage.js';
import type { PriceEntry } from '../../schema-types/gateway.js';
import { readDollars } from '../../yaml/dollars.js';
import type { Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import type { SpeechCall } from './codec.js';

type Spoken = Pick<SpeechCall, 'input' | 'instructions'>;

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
export function charactersOf({ input, instructions = '' }: Spoken): number {
  let count = 0;
  for (const text of [input, instructions]) for (const _ of text) count += 1;
  return count;
}

const MILLION = 1_000_000n;

/** The cost of a text, which is known before it is sent; rounded up to the next nano-dollar. */
function speechCost(characters: number, { free, per_million_characters = 0n }: Price): bigint {
  return free ? 0n : divideUp(BigInt(characters) * per_million_characters, MILLION);
}

/** The amount to hold before the call is sent: its highest price at any of the upstreams. */
export function speechMaxCost(call: Spoken, upstreams: readonly Upstream[]): bigint {
  const characters = charactersOf(call);
  return dearestCost(upstreams, (card) => speechCost(characters, card));
}

export function speechBill(call: Spoken, price: Price): Bill {
  return billOfCharacters(charactersOf(call), price);
}

function billOfCharacters(characters: number, price: Price): Bill {
  return {
    usage: NO_TOKENS,
    ...callCostsAt(price, (card) => speechCost(characters, card)),
    estimated: false,
    counts: { characters },
  };
}

/** The usual bytes of a second of sound. */
const BYTES_PER_SECOND: Readonly<Record<SpeechCall['format'], number>> = {
  mp3: 16_000,
  opus: 8_000,
  aac: 16_000,
  flac: 24_000,
  wav: 48_000,
  pcm: 48_000,
};
/** The usual pace of speech. */
const CHARACTERS_PER_SECOND = 15;

/** The bill of a part of the sound: the characters that so many bytes usually speak. */
export function deliveredBill(call: SpeechCall, bytes: number, price: Price): Bill {
  const seconds = bytes / BYTES_PER_SECOND[call.format];
  const spoken = Math.floor(seconds * CHARACTERS_PER_SECOND);
  return { ...billOfCharacters(Math.min(spoken, charactersOf(call)), price), estimated: true };
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
