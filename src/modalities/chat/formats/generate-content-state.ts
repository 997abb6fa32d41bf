import type { ReasoningDetail } from '../codec.js';
import { isSealed, sealed, unsealed } from './sealed-reasoning.js';

/** Signatures of this form go back to Gemini alone. */
export const GEMINI_FORMAT = 'google-gemini-v1';

/** Gemini's own signatures among what an upstream demands back. */
export function ownSignatures(details: readonly ReasoningDetail[]): string[] {
  return details.flatMap(({ format, data }) => (format === GEMINI_FORMAT && data ? [data] : []));
}

/** What any other upstream demands back. */
export function othersIn(details: readonly ReasoningDetail[]): ReasoningDetail[] {
  return details.filter(({ format }) => format !== GEMINI_FORMAT);
}

/**
 * The state of any other upstream as one signature: this API's clients bring those back, and take
 * them for base64. The pieces of one detail, which a stream gives one by one, are joined.
 */
export function sealedSignature(details: readonly ReasoningDetail[]): string {
  const whole: ReasoningDetail[] = [];
  for (const piece of details) {
    const last = whole.at(-1);
    const isMore = last && piece.index !== undefined && last.index === piece.index;
    if (isMore && last.type === piece.type) Object.assign(last, joined(last, piece));
    else whole.push({ ...piece });
  }
  return Buffer.from(sealed(whole)).toString('base64');
}

function joined(first: ReasoningDetail, next: ReasoningDetail): ReasoningDetail {
  const text = `${first.text ?? ''}${next.text ?? ''}`;
  return { ...first, ...next, ...(text !== '' && { text }) };
}

/** What a signature holds that is not Gemini's own; nothing where it is. */
export function stateIn(signature: string): ReasoningDetail[] {
  const text = Buffer.from(signature, 'base64').toString('utf8');
  return isSealed(text) ? unsealed(text) : [];
}
