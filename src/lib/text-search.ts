import type { Turns } from './turns.js';

/** Where in a text a match begins, and where it has ended. */
export type Range = readonly [from: number, to: number];

/** Something that texts are searched for. */
export interface TextPattern {
  /** What it is, in a word. */
  readonly kind: string;
  /** The characters that are looked at behind a place to find what begins there. */
  readonly reach: number;
  /** Where it is in a text, from a place on, in order. */
  readonly ranges: (text: string, at: number) => Iterable<Range>;
}

/** Work that pauses after each small step of it. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** So many times its reach is searched for a pattern in one step. */
const STEP = 4;
/** Characters before a place on which it may depend what begins there. */
const BEHIND = 128;

/**
 * Where a pattern is in a text, and undefined between the steps. One step sees a part of the text
 * only: a match that goes on to the end of that part is looked for again in a larger one.
 */
export function* find(
  { reach, ranges }: TextPattern,
  text: string,
): Generator<Range | undefined, void, undefined> {
  let ahead = reach;
  for (let at = 0; at < text.length; yield) {
    const end = at + STEP * reach;
    const start = Math.max(0, at - BEHIND);
    const part = text.slice(start, end + ahead);
    const isLast = end + ahead >= text.length;
    at = end;
    ahead = reach;
    for (const [first, last] of ranges(part, Math.max(0, end - STEP * reach - start))) {
      const [from, to] = [start + first, start + last];
      if (from >= end && !isLast) break;
      if (last === part.length && !isLast) {
        at = from;
        ahead = 2 * (to - from) + reach;
        break;
      }
      yield [from, to];
      at = Math.max(at, to);
    }
    if (isLast) return;
  }
}

/** The text with `by` in place of each match. */
export function* replaced(text: string, pattern: TextPattern, by: string): Steps<string> {
  let written = '';
  let end = 0;
  for (const range of find(pattern, text)) {
    yield;
    const [from, to] = range ?? [-1, -1];
    if (from < end) continue;
    written += text.slice(end, from) + by;
    end = to;
  }
  return end === 0 ? text : written + text.slice(end);
}

/** Whether the pattern is in the text. */
export function* isIn(pattern: TextPattern, text: string): Steps<boolean> {
  for (const range of find(pattern, text)) {
    if (range) return true;
    yield;
  }
  return false;
}

/** Does all steps at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** After working so long, others run first. */
const TURN_MS = 5;

/** Does the steps in turns with all else; `onTurn` hears how long they have worked in all. */
export async function inTurns<T>(
  steps: Steps<T>,
  { turns, now }: { turns: Turns; now: () => number },
  onTurn: (worked_ms: number) => void,
): Promise<T> {
  let worked_ms = 0;
  let began_ms = now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const turn_ms = now() - began_ms;
    // A clock that was set back must not let it go on for ever.
    if (turn_ms >= 0 && turn_ms < TURN_MS) continue;
    worked_ms += Math.max(turn_ms, 0);
    onTurn(worked_ms);
    await turns.next();
    began_ms = now();
  }
}
