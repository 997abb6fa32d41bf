import { isRecord } from '../../src/lib/objects.js';
import type { WireReply } from '../../src/core/provider.js';
import { hash } from './fake-text.js';
import { document, reject, type BodyFields } from './wire.js';

const CATEGORIES = ['harassment', 'hate', 'illicit', 'self-harm', 'sexual', 'violence'];
/** The mark of a text or URL that counts as violent. */
const FLAG = '[flag]';
const CHARACTERS_PER_TOKEN = 4;

/** The moderations wire: only inputs with `[flag]` are harmful. */
export function answerModerations(body: BodyFields, isCut: boolean): WireReply {
  const { input, model } = body;
  const inputs = typeof input === 'string' ? [input] : input;
  if (!Array.isArray(inputs) || inputs.length === 0) return reject('input', 'An input is needed.');
  // Parts are judged together.
  const texts: string[] = inputs.some(isRecord)
    ? [JSON.stringify(inputs)]
    : inputs.map((one) => String(one));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const prompt_tokens = Math.ceil(length / CHARACTERS_PER_TOKEN);
  const usage = { prompt_tokens, total_tokens: prompt_tokens };
  return document({ id: 'modr-simulated', model, results: texts.map(resultOf), usage }, isCut);
}

function resultOf(text: string): BodyFields {
  const flagged = text.includes(FLAG);
  const scoreOf = (name: string): number =>
    flagged && name === 'violence' ? 0.99 : (hash(`${name}:${text}`) % 100) / 10_000;
  const of = <T>(valueOf: (name: string) => T): Record<string, T> =>
    Object.fromEntries(CATEGORIES.map((name) => [name, valueOf(name)]));
  return {
    flagged,
    categories: of((name) => flagged && name === 'violence'),
    category_scores: of(scoreOf),
  };
}
