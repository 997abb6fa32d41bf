import { randomUUID } from 'node:crypto';

/** Characters of a random UUID before its variant and the rest of its random digits. */
const TIMED_PART = 15;

/**
 * A UUID, version 7: unguessable, but in the order of time, so that the ledger's unique index grows
 * at its end and not all over.
 */
export function requestId(now_ms: number): string {
  const time = now_ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(TIMED_PART)}`;
}
