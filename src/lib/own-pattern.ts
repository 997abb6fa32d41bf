import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { Range, TextPattern } from './text-search.js';

/** A match may be longer, but then text that stands further behind it decides nothing. */
const REACH = 8_192;

/**
 * A regular expression that somebody has written, as RE2 reads it: a search takes time linear in
 * the text, so there are no references and no looking around. Throws an error that says what is
 * wrong with it. Each match may read on as far as the pattern reaches, so whoever looks for many of
 * them watches the time.
 */
export function ownPattern(kind: string, source: string): TextPattern {
  const pattern = compile(source);
  return { kind, reach: REACH, ranges: (text, at) => matches(pattern, text, at) };
}

/** The engine is loaded where the first pattern is. */
function compile(source: string): RE2JS {
  const engine = createRequire(import.meta.url)('re2js') as typeof import('re2js');
  const pattern = engine.RE2JS.compile(source);
  if (pattern.matcher('').find()) throw new Error('it matches the empty text');
  return pattern;
}

function* matches(pattern: RE2JS, text: string, at: number): Generator<Range> {
  const matcher = pattern.matcher(text);
  for (let found = matcher.find(at); found; found = matcher.find()) {
    if (matcher.end() > matcher.start()) yield [matcher.start(), matcher.end()];
  }
}
