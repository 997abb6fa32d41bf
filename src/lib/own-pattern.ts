import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { replaceRanges, type TextPattern } from './personal-data.js';

/**
 * A regular expression that somebody has written, as RE2 reads it: a search takes time linear in
 * the text, so there are no references and no looking around. Throws an error that says what is
 * wrong with it. Each match may read on to the end of the text, so whoever replaces many of them
 * watches the time.
 */
export function ownPattern(kind: string, source: string): TextPattern {
  const pattern = compile(source);
  return {
    kind,
    isIn: (text) => pattern.matcher(text).find(),
    replace: (text, by, onMatch) => replaceRanges(text, matches(pattern, text, onMatch), by),
  };
}

/** The engine is loaded where the first pattern is. */
function compile(source: string): RE2JS {
  const engine = createRequire(import.meta.url)('re2js') as typeof import('re2js');
  const pattern = engine.RE2JS.compile(source);
  if (pattern.matcher('').find()) throw new Error('it matches the empty text');
  return pattern;
}

function* matches(
  pattern: RE2JS,
  text: string,
  onMatch: (() => void) | undefined,
): Generator<[number, number]> {
  const matcher = pattern.matcher(text);
  while (matcher.find()) {
    onMatch?.();
    if (matcher.end() > matcher.start()) yield [matcher.start(), matcher.end()];
  }
}
