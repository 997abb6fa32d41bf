import { setImmediate as nextTurn } from 'node:timers/promises';

type Encode = (text: string) => number;

/** A text up to this long is counted as a whole, and of a longer one as much. */
const COUNTED_CHARACTERS = 48_000;
/** Counting so much takes a millisecond or two; others run before the next. */
const SLICE_CHARACTERS = 1_000;
/** The tokenizer is quadratic on long unbroken runs, so they are cut before it sees them. */
const LONG_RUN = /\S{129,}|\s{129,}/gu;
const RUN_SLICE = /[\s\S]{1,128}/gu;
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
  let tokens = 0;
  let characters = 0;
  for (const slice of slicesOf(text)) {
    if (text.length > SLICE_CHARACTERS) await nextTurn();
    for (const part of partsOf(slice)) tokens += encode(part);
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
