import { isRecord } from './is-record.js';

/**
 * Takes away the fields of an object that are null, but for one. Changes it in place; false where
 * there was nothing to take away.
 */
export function dropNulls(value: unknown, but?: string): boolean {
  if (!isRecord(value)) return false;
  let isChanged = false;
  for (const name of Object.keys(value)) {
    if (value[name] !== null || name === but) continue;
    delete value[name];
    isChanged = true;
  }
  return isChanged;
}
