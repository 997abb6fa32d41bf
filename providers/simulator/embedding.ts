import type { WireReply } from '../../src/core/provider.js';
import { hash } from './fake-text.js';
import { document, isCount, reject, type BodyFields } from './wire.js';

const STANDARD_DIMENSIONS = 256;
const MAX_DIMENSIONS = 4_096;
const CHARACTERS_PER_TOKEN = 4;
const FLOAT_BYTES = 4;

/** The embeddings wire: vectors of length 1, the same for the same text of the same model. */
export function answerEmbeddings(body: BodyFields, isCut: boolean): WireReply {
  const inputs = inputsOf(body.input);
  if (inputs.length === 0) return reject('input', 'An input is needed.');
  const dimensions = body.dimensions ?? STANDARD_DIMENSIONS;
  if (!isCount(dimensions, MAX_DIMENSIONS)) {
    return reject('dimensions', `dimensions is a whole number from 1 to ${MAX_DIMENSIONS}.`);
  }
  const data = inputs.map((input, index) => {
    const vector = vectorOf(JSON.stringify([body.model, input]), dimensions);
    const embedding = body.encoding_format === 'base64' ? base64(vector) : vector;
    return { object: 'embedding', index, embedding };
  });
  const prompt_tokens = inputs.reduce<number>((sum, input) => sum + tokensOf(input), 0);
  const usage = { prompt_tokens, total_tokens: prompt_tokens };
  return document({ object: 'list', data, model: body.model, usage }, isCut);
}

/** A text or the tokens of one stand for themselves. */
function inputsOf(input: unknown): unknown[] {
  if (!Array.isArray(input)) return typeof input === 'string' && input !== '' ? [input] : [];
  return typeof input[0] === 'number' ? [input] : input;
}

function tokensOf(input: unknown): number {
  if (Array.isArray(input)) return input.length;
  return Math.ceil(String(input).length / CHARACTERS_PER_TOKEN);
}

function vectorOf(text: string, dimensions: number): number[] {
  const raw = Array.from({ length: dimensions }, (_, at) => hash(`${at}:${text}`) / 2 ** 31 - 1);
  const length = Math.hypot(...raw) || 1;
  return raw.map((value) => Math.fround(value / length));
}

function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES);
  vector.forEach((value, at) => bytes.writeFloatLE(value, at * FLOAT_BYTES));
  return bytes.toString('base64');
}
