import { isRecord } from './is-record.js';

/** Deletes the null fields of an object, except the field `kept`. Returns whether it had any. */
export function dropNulls(value: unknown, kept?: string): boolean {
  if (!isRecord(value)) return false;
  let isChanged = false;
  for (const name of Object.keys(value)) {
    if (value[name] !== null || name === kept) continue;
    delete value[name];
    isChanged = true;
  }
  return isChanged;
}
