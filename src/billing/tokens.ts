import { leastTokens } from './bill.js';
import { setImmediate as nextTurn } from 'node:timers/promises';

type Encode = (text: string) => number;

/** The most characters of a text that are counted; longer texts are sampled. */
const COUNTED_CHARACTERS = 24_000;
const SLICE_CHARACTERS = 500;
/** After this time the count yields to other work on the event loop. */
const TURN_MS = 4;
/**
 * The tokenizer is quadratic on long unbroken runs, so they are cut: 64 characters of Chinese
 * already take a millisecond.
 */
const LONG_RUN = /\S{65,}|\s{65,}/gu;
const RUN_SLICE = /[\s\S]{1,64}/gu;
let encoder: Promise<Encode> | undefined;

/**
 * Estimates the tokens of a text by the o200k vocabulary, for answers whose upstream reports no
 * plausible usage. The tokenizer is loaded at the first call. The result is at most the bytes of
 * the text, and at least the fewest tokens that can have so many bytes.
 */
export async function countTokens(text: string): Promise<number> {
  if (text === '') return 0;
  encoder ??= loadEncoder();
  const encode = await encoder;
  if (text.length > SLICE_CHARACTERS) await nextTurn();
  let tokens = 0;
  let characters = 0;
  let turn_ms = performance.now();
  for (const slice of slicesOf(text)) {
    for (const part of partsOf(slice)) {
      tokens += encode(part);
      if (performance.now() - turn_ms < TURN_MS) continue;
      await nextTurn();
      turn_ms = performance.now();
    }
    characters += slice.length;
  }
  const bytes = Buffer.byteLength(text);
  const about = Math.ceil((tokens * text.length) / characters);
  return Math.min(bytes, Math.max(about, leastTokens(bytes)));
}

async function loadEncoder(): Promise<Encode> {
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a control token, such as <|endoftext|>, is counted as plain text.
  return (text) => count(text, { disallowedSpecial: new Set() });
}

/**
 * The slices of a text that are counted: all of it, or a sample from all over it. Each slice of a
 * sample begins at a random place, so that a client cannot choose the part that counts.
 */
export function* slicesOf(text: string, random = Math.random): Generator<string, undefined> {
  const stretch = Math.max(
    SLICE_CHARACTERS,
    text.length / Math.floor(COUNTED_CHARACTERS / SLICE_CHARACTERS),
  );
  for (let from = 0; from < text.length; from += stretch) {
    const start = Math.floor(from + random() * (stretch - SLICE_CHARACTERS));
    yield text.slice(start, start + SLICE_CHARACTERS);
  }
}

/** Cuts a slice into parts without long runs. */
export function* partsOf(slice: string): Generator<string, undefined> {
  let from = 0;
  for (const run of slice.matchAll(LONG_RUN)) {
    if (run.index > from) yield slice.slice(from, run.index);
    yield* run[0].match(RUN_SLICE) ?? [];
    from = run.index + run[0].length;
  }
  if (from < slice.length) yield slice.slice(from);
}
