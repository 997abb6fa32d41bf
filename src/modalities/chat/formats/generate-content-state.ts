import type { JsonTexts } from '../../../lib/json-text.js';
import type { ReasoningDetail } from '../codec.js';
import { isSealed, joinDetails, sealed, unsealed } from './sealed-reasoning.js';

/** The format of signatures that only Gemini gets back. */
export const GEMINI_FORMAT = 'google-gemini-v1';

/** The signatures that are Gemini's own. */
export function ownSignatures(details: readonly ReasoningDetail[]): string[] {
  return details.flatMap(({ format, data }) => (format === GEMINI_FORMAT && data ? [data] : []));
}

/** The state that is another upstream's. */
export function othersIn(details: readonly ReasoningDetail[]): ReasoningDetail[] {
  return details.filter(({ format }) => format !== GEMINI_FORMAT);
}

/**
 * The state of another upstream as one signature, in base64: this API's clients send signatures
 * back.
 */
export function sealedSignature(details: readonly ReasoningDetail[]): string {
  return Buffer.from(sealed(joinDetails(details))).toString('base64');
}

/** The state of another upstream in a signature; empty for a signature of Gemini's own. */
export function stateIn(signature: string, texts?: JsonTexts): ReasoningDetail[] {
  const text = Buffer.from(signature, 'base64').toString('utf8');
  return isSealed(text) ? unsealed(text, texts) : [];
}
