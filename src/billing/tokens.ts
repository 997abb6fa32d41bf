import { setImmediate as nextTurn } from 'node:timers/promises';

type Encode = (text: string) => number;

/** A text up to this long is counted as a whole, and of a longer one as much. */
const COUNTED_CHARACTERS = 24_000;
const SLICE_CHARACTERS = 500;
/** When counting has taken so long, others run before it goes on. */
const TURN_MS = 4;
/**
 * The tokenizer is quadratic on long unbroken runs, so they are cut before it sees them: 64
 * characters of Chinese already take a millisecond.
 */
const LONG_RUN = /\S{65,}|\s{65,}/gu;
const RUN_SLICE = /[\s\S]{1,64}/gu;
/** The longest token of the vocabulary has so many bytes: a run of spaces. */
const LONGEST_TOKEN_BYTES = 128;

let encoder: Promise<Encode> | undefined;

/**
 * About how many tokens a text has, by the o200k vocabulary. Used only where an upstream gives no
 * believable usage; the tokenizer is loaded at the first such call. Never fewer than its bytes make
 * certain, and never more than its bytes.
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
  return Math.min(bytes, Math.max(about, Math.ceil(bytes / LONGEST_TOKEN_BYTES)));
}

async function loadEncoder(): Promise<Encode> {
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a control token, such as <|endoftext|>, is counted as plain text.
  return (text) => count(text, { disallowedSpecial: new Set() });
}

/**
 * What is counted of a text: all of it, or slices from all over it, as many as there is time for.
 * Where each of them begins is left to chance, so that nobody chooses what is counted.
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

/** A slice in parts without long runs. */
export function* partsOf(slice: string): Generator<string, undefined> {
  let from = 0;
  for (const run of slice.matchAll(LONG_RUN)) {
    if (run.index > from) yield slice.slice(from, run.index);
    yield* run[0].match(RUN_SLICE) ?? [];
    from = run.index + run[0].length;
  }
  if (from < slice.length) yield slice.slice(from);
}
