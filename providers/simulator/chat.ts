import { recordsIn } from '../../src/lib/objects.js';
import { fakeJson } from './fake-json.js';
import { hash, fakeSentences, type PromptFacts } from './fake-text.js';
import { calledTool, type Called } from './tool-call.js';
import { numberIn, recordIn, type BodyFields } from './wire.js';

/** The text of one completion, split into the tokens by which it is billed. */
export interface Completion {
  tokens: string[];
  call: { id: string; type: 'function'; function: { name: string; arguments: string } } | undefined;
  finish: 'stop' | 'length' | 'tool_calls';
}

const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_IMAGE = 85;
const TOKENS_PER_SOUND = 50;
const UNLIMITED_TOKENS = 4096;
/** Blocks around a user's words that are taken off, and the longest text that is looked through. */
const MAX_BLOCKS = 32;
const MAX_OWN_CHARACTERS = 200_000;

/** The answer to a chat request, `n` times over. The same request is answered the same. */
export function complete(body: BodyFields): Completion[] {
  const messages = recordsIn(body.messages);
  const facts = listen(messages);
  const seed = hash(JSON.stringify([body.model, body.seed, messages]));
  const requested = numberIn(body, 'max_completion_tokens') ?? numberIn(body, 'max_tokens');
  const limit = requested ?? UNLIMITED_TOKENS;
  const called = calledTool(body, facts.words);
  const call = called && calling(called, seed);
  return Array.from({ length: numberIn(body, 'n') ?? 1 }, (_, index) => {
    if (call && call.tokens.length <= limit) return call;
    const text = fakeSentences(seed + index, facts);
    return answerJson(body, text, limit) ?? spoken(text, body.stop, limit);
  });
}

/** A believable count: text by its length, images and sounds at a flat rate. */
export function promptTokens(body: BodyFields): number {
  const messages = recordsIn(body.messages);
  const { images, sounds } = listen(messages);
  const characters = messages.reduce((sum, message) => sum + textOfMessage(message).length, 0);
  return (
    Math.ceil(characters / CHARACTERS_PER_TOKEN) +
    messages.length * TOKENS_PER_MESSAGE +
    images * TOKENS_PER_IMAGE +
    sounds * TOKENS_PER_SOUND
  );
}

function spoken(text: string, stop: unknown, limit: number): Completion {
  const stops = (Array.isArray(stop) ? stop : [stop]).filter(
    (word): word is string => typeof word === 'string' && word !== '',
  );
  const ends = stops.map((word) => text.indexOf(word)).filter((at) => at >= 0);
  const shown = text.slice(0, Math.min(text.length, ...ends));
  return cut(shown.match(/\s*\S+|\s+$/gu) ?? [], limit);
}

function cut(tokens: readonly string[], limit: number): Completion {
  const isCut = tokens.length > limit;
  return {
    tokens: tokens.slice(0, limit),
    call: undefined,
    finish: isCut ? 'length' : 'stop',
  };
}

/** The call of a tool, cut into pieces; the same id for the same conversation. */
function calling({ name, arguments: args }: Called, seed: number): Completion {
  const id = `call_${seed.toString(16).padStart(8, '0')}`;
  return {
    tokens: piecesOf(args),
    call: { id, type: 'function', function: { name, arguments: args } },
    finish: 'tool_calls',
  };
}

/** JSON where `response_format` asks for it: a value that fits the schema, or one of its own. */
function answerJson(body: BodyFields, text: string, limit: number): Completion | undefined {
  const format = recordIn(body, 'response_format');
  const { type } = format;
  if (type !== 'json_object' && type !== 'json_schema') return undefined;
  const schema = recordIn(format, 'json_schema').schema;
  const value = type === 'json_schema' ? fakeJson(schema) : { answer: text };
  return cut(piecesOf(JSON.stringify(value)), limit);
}

function piecesOf(json: string): string[] {
  return json.match(/.{1,4}/gsu) ?? [];
}

function listen(messages: readonly BodyFields[]): PromptFacts {
  const user = messages.filter(({ role }) => role === 'user');
  const parts = user.flatMap(({ content }) => recordsIn(content));
  return {
    words: ownWords(textOfMessage(user.at(-1) ?? {})),
    images: parts.filter(({ type }) => type === 'image_url').length,
    sounds: parts.filter(({ type }) => type === 'input_audio').length,
  };
}

/** The text of a user without the blocks that agents add, such as `<system-reminder>`. */
function ownWords(text: string): string {
  if (text.length > MAX_OWN_CHARACTERS) return text;
  let rest = text;
  for (let blocks = 0; blocks < MAX_BLOCKS; blocks += 1) {
    const tag = /^ ?<([a-z][a-z_-]{0,40})>/mu.exec(rest);
    const closing = `</${tag?.[1] ?? ''}>`;
    const end = tag ? rest.indexOf(closing, tag.index) : -1;
    if (!tag || end === -1) break;
    rest = rest.slice(0, tag.index) + rest.slice(end + closing.length);
  }
  return rest.trim() === '' ? text : rest;
}

function textOfMessage({ content }: BodyFields): string {
  if (typeof content === 'string') return content;
  return recordsIn(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join(' ');
}
