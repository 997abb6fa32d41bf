import { isRecord } from '../../src/lib/objects.js';

/** The first with all that the second has: maps are merged by key, all else is replaced. */
export function mergeYaml(whole: object, fragment: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...whole };
  for (const [key, value] of Object.entries(fragment)) {
    const old = merged[key];
    const isMap = isRecord(old) && isRecord(value) && !('at' in value);
    merged[key] = isMap ? mergeYaml(old, value) : value;
  }
  return merged;
}
