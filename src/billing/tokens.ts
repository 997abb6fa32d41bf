import { setImmediate as nextTurn } from 'node:timers/promises';

type Encode = (text: string) => number;

/** Past this many characters the count goes on in proportion, so as not to stop the loop. */
const COUNTED_CHARACTERS = 20_000;
/** Counting more than this takes milliseconds, which others must not wait for many times over. */
const QUICK_CHARACTERS = 1_000;
/** The tokenizer is quadratic on long unbroken runs, so they are cut before it sees them. */
const LONG_RUN = /\S{129,}|\s{129,}/gu;
const RUN_SLICE = /[\s\S]{1,128}/gu;

let encoder: Promise<Encode> | undefined;

/**
 * About how many tokens a text has, by the o200k vocabulary. Used only where an upstream gives no
 * believable usage; the tokenizer is loaded at the first such call.
 */
export async function countTokens(text: string): Promise<number> {
  if (text === '') return 0;
  encoder ??= loadEncoder();
  const encode = await encoder;
  if (text.length > QUICK_CHARACTERS) await nextTurn();
  let tokens = 0;
  let characters = 0;
  for (const slice of slicesOf(text)) {
    tokens += encode(slice);
    characters += slice.length;
  }
  return Math.ceil((tokens * text.length) / characters);
}

async function loadEncoder(): Promise<Encode> {
  const { countTokens: count } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a control token, such as <|endoftext|>, is counted as plain text.
  return (text) => count(text, { disallowedSpecial: new Set() });
}

/** What the tokenizer gets to see of a text: its beginning, in parts without long runs. */
export function* slicesOf(text: string): Generator<string, undefined> {
  const counted = text.slice(0, COUNTED_CHARACTERS);
  let from = 0;
  for (const run of counted.matchAll(LONG_RUN)) {
    if (run.index > from) yield counted.slice(from, run.index);
    yield* run[0].match(RUN_SLICE) ?? [];
    from = run.index + run[0].length;
  }
  if (from < counted.length) yield counted.slice(from);
}
