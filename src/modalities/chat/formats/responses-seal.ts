import { isRecord } from '../../../lib/is-record.js';
import type { ReasoningDetail } from '../codec.js';

/** Marks reasoning that this gateway sealed; that of anybody else is not its to read. */
const SEAL = 'tg1.';

/** What an upstream demands back, as the opaque text that clients of this API bring back. */
export function sealed(details: readonly ReasoningDetail[]): string {
  return SEAL + Buffer.from(JSON.stringify(details)).toString('base64url');
}

/** What was sealed; undefined where this gateway did not seal it. */
export function unsealed(text: string): ReasoningDetail[] | undefined {
  if (!text.startsWith(SEAL)) return undefined;
  try {
    const json = Buffer.from(text.slice(SEAL.length), 'base64url').toString('utf8');
    const details: unknown = JSON.parse(json);
    return Array.isArray(details) ? details.filter(isDetail) : undefined;
  } catch {
    return undefined;
  }
}

function isDetail(value: unknown): value is ReasoningDetail {
  return isRecord(value) && typeof value['type'] === 'string';
}
