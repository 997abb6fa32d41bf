import type { EventLoopTurns } from './event-loop-turns.js';

/** The start of a match in a text, and the index after its end. */
export type Range = readonly [from: number, to: number];

/** A pattern that texts are searched for. */
export interface TextPattern {
  /** The name of the pattern, such as `email`. */
  readonly kind: string;
  /** The maximum of characters that decide whether a match begins at a place. */
  readonly reach: number;
  /** Finds the matches in a text from an index on, in order. */
  readonly ranges: (text: string, at: number) => Iterable<Range>;
}

/** Work that is done in small steps, with a pause after each. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** One step searches this many times the reach of a pattern. */
const STEP = 4;
/** Characters before a place that may decide whether a match begins there (lookbehind). */
const BEHIND = 128;

/**
 * Yields the matches of a pattern in a text, and undefined after each step. One step searches a
 * part of the text. A match that reaches the end of the part is searched again in a larger part.
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

/** Does all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Work pauses for other requests after this time. */
const TURN_MS = 5;

/** Does the steps in turns of the event loop. `onTurn` gets the time worked so far, in ms. */
export async function inTurns<T>(
  steps: Steps<T>,
  { turns, now }: { turns: EventLoopTurns; now: () => number },
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
