import { pointer as join, quote, segments, type Source } from '../yaml/source.js';

/** Reports that the block at `place` lacks a key. */
export function missingKey(source: Source, place: string, name: string, hint: string): void {
  const message = `${segments(place).join('.')} is missing the key ${quote(name)}`;
  source.fault(place, { code: 'missing_key', message, hint, at: 'key' });
}

/** Reports each key that cannot stand beside another one. */
export function refuseBeside(
  source: Source,
  place: string,
  names: readonly string[],
  other: string,
): void {
  for (const name of names) {
    const at = place + join(name);
    if (!source.has(at)) continue;
    const message = `${quote(name)} cannot stand beside ${other}`;
    source.fault(at, { code: 'unknown_key', message, hint: 'remove one of them', at: 'key' });
  }
}
