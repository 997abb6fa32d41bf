import { JsonTexts } from '../../../lib/json-text.js';
import { isRecord } from '../../../lib/objects.js';
import type { ReasoningDetail } from '../codec.js';

/** Marks reasoning that this gateway sealed. */
const SEAL = 'tg1.';

/** The state that an upstream demands back, as an opaque text that the client sends back. */
export function sealed(details: readonly ReasoningDetail[]): string {
  return SEAL + Buffer.from(JSON.stringify(details)).toString('base64url');
}

/** Whether this gateway sealed the text; anyone may have copied the mark. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEAL);
}

/** The state in a sealed text; empty for a text that the gateway did not seal. */
export function unsealed(text: string, texts = new JsonTexts()): ReasoningDetail[] {
  if (!isSealed(text)) return [];
  const json = Buffer.from(text.slice(SEAL.length), 'base64url').toString('utf8');
  const details = texts.parse(json);
  return Array.isArray(details) ? details.filter(isDetail) : [];
}

/** Joins consecutive pieces of one detail: a stream delivers the detail in pieces of one index. */
export function joinDetails(details: readonly ReasoningDetail[]): ReasoningDetail[] {
  const wholes: ReasoningDetail[] = [];
  for (const detail of details) {
    const last = wholes.at(-1);
    const { type, index, text, summary } = detail;
    if (last && index !== undefined && last.index === index && last.type === type) {
      const texts = {
        ...(text !== undefined && { text: (last.text ?? '') + text }),
        ...(summary !== undefined && { summary: (last.summary ?? '') + summary }),
      };
      wholes[wholes.length - 1] = { ...last, ...detail, ...texts };
    } else wholes.push(detail);
  }
  return wholes;
}

function isDetail(value: unknown): value is ReasoningDetail {
  return isRecord(value) && typeof value.type === 'string';
}
