import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { Range, TextPattern } from './text-search.js';

/** A match may be longer, but then text that stands further behind it decides nothing. */
const REACH = 8_192;

/**
 * Compiles an operator's regular expression with RE2. A search takes time linear in the text, so
 * RE2 has no backreferences and no lookaround. Throws an error whose message names the fault. A
 * search for many matches may still take long, since each may read the rest of the text: callers
 * limit its time.
 */
export function compileOperatorPattern(kind: string, source: string): TextPattern {
  const pattern = compile(source);
  return { kind, reach: REACH, ranges: (text, at) => matches(pattern, text, at) };
}

/** Loads the engine with the first pattern. */
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
