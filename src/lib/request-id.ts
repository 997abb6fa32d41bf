import { randomUUID } from 'node:crypto';

/** Characters of a random UUID before its variant and the rest of its random digits. */
const TIMED_PART = 15;

/** What all ids of a millisecond begin with; most calls find that of the one before. */
let head = { now_ms: NaN, text: '' };

/**
 * A UUID, version 7: unguessable, but in the order of time, so that the ledger's unique index grows
 * at its end and not all over.
 */
export function requestId(now_ms: number): string {
  if (head.now_ms !== now_ms) {
    const time = now_ms.toString(16).padStart(12, '0');
    head = { now_ms, text: `${time.slice(0, 8)}-${time.slice(8)}-7` };
  }
  return head.text + randomUUID().slice(TIMED_PART);
}
