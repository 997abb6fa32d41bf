import type { WireReply } from '../../src/core/provider.js';
import { png } from './png.js';
import { hash } from './fake-text.js';
import { document, isCount, refuse, reject, textIn, type BodyFields } from './wire.js';

const DEFAULT_SIZE = '1024x1024';
const MAX_SIDE = 4_096;
const MAX = 10;
const CHARACTERS_PER_TOKEN = 4;
/** The output tokens of an image of 1024 x 1024. */
const TOKENS = { standard: 1_056, high: 4_160 };
const HIGH_QUALITIES: readonly unknown[] = ['high', 'hd'];

const AGAINST_THE_RULES = {
  status: 400,
  type: 'image_generation_user_error',
  code: 'moderation_blocked',
  message: 'The drill found the prompt to be against the rules.',
};

/**
 * The images wire: as many PNGs as asked for, of the size asked for, as base64, and the same to the
 * same prompt. A prompt with `[fail]` in it is refused as one that breaks the rules.
 */
export async function answerImages(body: BodyFields, isCut: boolean): Promise<WireReply> {
  const prompt = textIn(body, 'prompt') ?? '';
  if (prompt === '') return reject('prompt', 'A prompt is needed.');
  if (prompt.includes('[fail]')) return refuse(AGAINST_THE_RULES);
  const n = body.n ?? 1;
  if (!isCount(n, MAX)) return reject('n', `n is a whole number from 1 to ${MAX}.`);
  const size = sizeOf(body.size);
  if (!size) return reject('size', `size is WIDTHxHEIGHT, each from 1 to ${MAX_SIDE}.`);
  const seed = hash(prompt);
  const data: BodyFields[] = [];
  for (let at = 0; at < n; at += 1) {
    // A step that is odd and large, so that the images of one answer look unlike each other.
    const image = await png((seed + at * 0x9e3779b1) >>> 0, size.width, size.height);
    data.push({ b64_json: image.toString('base64') });
  }
  const created = Math.floor(Date.now() / 1_000);
  const quality = HIGH_QUALITIES.includes(body.quality) ? 'high' : 'standard';
  const pixels = n * size.width * size.height;
  const usage = imageUsage(prompt, Math.ceil((TOKENS[quality] * pixels) / 1_024 ** 2));
  const settings_used = { output_format: 'png', size: `${size.width}x${size.height}`, quality };
  return document({ created, data, ...settings_used, usage }, isCut);
}

function imageUsage(prompt: string, output_tokens: number): BodyFields {
  const input_tokens = Math.ceil(prompt.length / CHARACTERS_PER_TOKEN);
  return {
    input_tokens,
    input_tokens_details: { text_tokens: input_tokens, image_tokens: 0 },
    output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
}

function sizeOf(size: unknown): { width: number; height: number } | undefined {
  const wanted = size === undefined || size === 'auto' ? DEFAULT_SIZE : size;
  if (typeof wanted !== 'string') return undefined;
  const [, width, height] = (/^(\d{1,4})x(\d{1,4})$/u.exec(wanted) ?? []).map(Number);
  if (!width || !height || Math.max(width, height) > MAX_SIDE) return undefined;
  return { width, height };
}
