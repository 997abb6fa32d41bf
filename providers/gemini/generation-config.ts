import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { isRecord } from '../../src/lib/objects.js';
import { objectIn, type GeminiObject } from '../gemini-wire.js';
import { unsupported } from './parts.js';
import { THINKING_FIELDS, thinkingOf } from './thinking.js';

/** Fields that mean the same under another name. */
const SAME: readonly (readonly [string, string])[] = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
];

const MAX_STOPS = 5;
const MAX_SEED = 2 ** 31;

/** The fields of a chat call that this wire can say; others are named as ignored. */
export const CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...SAME.map(([name]) => name),
  ...THINKING_FIELDS,
  'stop',
  'seed',
  'logprobs',
  'top_logprobs',
  'response_format',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'service_tier',
]);

/** `generationConfig`. `fields` are the call's, as the upstream's entry changed them. */
export function generationConfigOf(
  { max_tokens }: ChatCall,
  fields: Readonly<Record<string, unknown>>,
  model: string,
  ignored: Set<string>,
): GeminiObject {
  const config: GeminiObject = {};
  if (max_tokens !== undefined) config.maxOutputTokens = max_tokens;
  for (const [name, theirs] of SAME) {
    if (isSaid(fields[name])) config[theirs] = fields[name];
  }
  const stopSequences = stopsOf(fields.stop);
  if (stopSequences.length > 0) config.stopSequences = stopSequences;
  const { seed } = fields;
  if (isSaid(seed)) {
    // Theirs has 32 bits.
    if (Number.isInteger(seed) && Math.abs(Number(seed)) < MAX_SEED) config.seed = seed;
    else ignored.add('seed');
  }
  const thinkingConfig = thinkingOf(fields, model, ignored);
  if (thinkingConfig) config.thinkingConfig = thinkingConfig;
  return Object.assign(config, logprobsOf(fields), formatOf(fields.response_format));
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function stopsOf(stop: unknown): unknown[] {
  const stops: unknown[] = Array.isArray(stop) ? stop : isSaid(stop) ? [stop] : [];
  if (stops.length <= MAX_STOPS) return stops;
  throw unsupported(`stop must name at most ${MAX_STOPS} texts for this model.`, 'stop');
}

function logprobsOf({ logprobs, top_logprobs }: Readonly<Record<string, unknown>>): GeminiObject {
  if (logprobs !== true) return {};
  const most = typeof top_logprobs === 'number' && top_logprobs > 0 ? top_logprobs : undefined;
  return { responseLogprobs: true, ...(most !== undefined && { logprobs: most }) };
}

function formatOf(format: unknown): GeminiObject {
  if (!isRecord(format) || format.type === 'text') return {};
  const isSchema = format.type === 'json_schema';
  if (!isSchema && format.type !== 'json_object') {
    const param = 'response_format.type';
    throw unsupported(`${param} must be text, json_object or json_schema.`, param);
  }
  const { schema } = objectIn(format, 'json_schema');
  return {
    responseMimeType: 'application/json',
    ...(isSchema && isRecord(schema) && { responseJsonSchema: schema }),
  };
}
