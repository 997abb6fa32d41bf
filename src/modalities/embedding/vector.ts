import type { EmbeddingCall, Vector } from './codec.js';

const FLOAT_BYTES = 4;
/** The most characters of a number in JSON, such as -0.0000010251424100715667, and its comma. */
const NUMBER_CHARACTERS = 26;

/** Converts a vector to the encoding that the client wants. */
export function inFormat(vector: Vector, format: EmbeddingCall['encoding_format']): Vector {
  if (format === 'base64') return typeof vector === 'string' ? vector : toBase64(vector);
  return typeof vector === 'string' ? toFloats(vector) : vector;
}

/** The most bytes of a vector in an answer. */
export function vectorBytes(vector: Vector, format: EmbeddingCall['encoding_format']): number {
  if (format === 'base64' && typeof vector === 'string') return vector.length;
  const numbers = typeof vector === 'string' ? floatsIn(vector) : vector.length;
  return numbers * (format === 'base64' ? 2 * FLOAT_BYTES : NUMBER_CHARACTERS);
}

function floatsIn(base64: string): number {
  return Math.floor(Buffer.byteLength(base64, 'base64') / FLOAT_BYTES);
}

function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * FLOAT_BYTES);
  numbers.forEach((number, at) => bytes.writeFloatLE(number, at * FLOAT_BYTES));
  return bytes.toString('base64');
}

function toFloats(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  const { length } = bytes;
  return Array.from({ length: Math.floor(length / FLOAT_BYTES) }, (_, at) =>
    bytes.readFloatLE(at * FLOAT_BYTES),
  );
}
