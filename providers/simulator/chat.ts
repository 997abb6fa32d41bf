import { isRecord } from '../../src/lib/is-record.js';
import { hash, speech, type Heard } from './fake-text.js';
import { numberIn, type Fields } from './wire.js';

/** What one completion says, cut into the tokens it is billed by. */
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

/** The answer to a chat request, `n` times over. The same request is answered the same. */
export function complete(body: Fields): Completion[] {
  const messages = records(body['messages']);
  const heard = listen(messages);
  const seed = hash(JSON.stringify([body['model'], body['seed'], messages]));
  const limit = numberIn(body, 'max_completion_tokens') ?? numberIn(body, 'max_tokens');
  const call = toolCall(body, messages, heard.words, seed);
  return Array.from({ length: numberIn(body, 'n') ?? 1 }, (_, index) => {
    if (call && call.tokens.length <= (limit ?? UNLIMITED_TOKENS)) return call;
    return spoken(speech(seed + index, heard), body['stop'], limit ?? UNLIMITED_TOKENS);
  });
}

/** A believable count: text by its length, images and sounds at a flat rate. */
export function promptTokens(body: Fields): number {
  const messages = records(body['messages']);
  const { images, sounds } = listen(messages);
  const characters = messages.reduce((sum, message) => sum + textOf(message).length, 0);
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
  const said = text.slice(0, Math.min(text.length, ...ends));
  const tokens = said.match(/\s*\S+|\s+$/gu) ?? [];
  const isCut = tokens.length > limit;
  return {
    tokens: isCut ? tokens.slice(0, limit) : [...tokens],
    call: undefined,
    finish: isCut ? 'length' : 'stop',
  };
}

/** A tool is called by being mentioned; one that has just answered is not called again. */
function toolCall(
  body: Fields,
  messages: readonly Fields[],
  words: string,
  seed: number,
): Completion | undefined {
  if (body['tool_choice'] === 'none' || messages.at(-1)?.['role'] === 'tool') return undefined;
  const functions = records(body['tools']).map((tool) => recordIn(tool, 'function'));
  const tool = functions.find(({ name }) => typeof name === 'string' && words.includes(name));
  if (!tool) return undefined;
  const args = JSON.stringify(argumentsFor(recordIn(tool, 'parameters')));
  const id = `call_${seed.toString(16).padStart(8, '0')}`;
  return {
    tokens: args.match(/.{1,4}/gsu) ?? [],
    call: { id, type: 'function', function: { name: String(tool['name']), arguments: args } },
    finish: 'tool_calls',
  };
}

function argumentsFor(parameters: Fields): Fields {
  const properties = recordIn(parameters, 'properties');
  const required = Array.isArray(parameters['required']) ? parameters['required'] : [];
  return Object.fromEntries(
    required.map((name) => [String(name), example(recordIn(properties, String(name)))]),
  );
}

function example(schema: Fields): unknown {
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  switch (schema['type']) {
    case 'number':
    case 'integer':
      return numberIn(schema, 'minimum') ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return argumentsFor(schema);
    default:
      return 'example';
  }
}

function listen(messages: readonly Fields[]): Heard {
  const user = messages.filter(({ role }) => role === 'user');
  const parts = user.flatMap(({ content }) => records(content));
  return {
    words: textOf(user.at(-1) ?? {}),
    images: parts.filter(({ type }) => type === 'image_url').length,
    sounds: parts.filter(({ type }) => type === 'input_audio').length,
  };
}

function textOf({ content }: Fields): string {
  if (typeof content === 'string') return content;
  return records(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join(' ');
}

function records(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function recordIn(fields: Fields, name: string): Fields {
  const value = fields[name];
  return isRecord(value) ? value : {};
}
