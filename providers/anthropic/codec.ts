import type {
  ChatCall,
  ChatCodec,
  ChatReply,
  MarkPlaces,
  ToolRules,
} from '../../src/modalities/chat/codec.js';
import type { Encoded } from '../../src/core/provider.js';
import { renameFields, setFields } from '../../src/core/field-changes.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord } from '../../src/lib/objects.js';
import { BETAS, betasOfCall, SAFEGUARDS, type TakenBetas } from './betas.js';
import { estimateTokens } from './count.js';
import { decode } from './decode.js';
import { messagesBody, READ } from './encode.js';
import { decodeStream } from './stream.js';

/**
 * The wire flags that this codec reads. `sampling`: whether temperature, top_p and top_k are
 * accepted, if the name of the model does not show it. `schemas: false`: the cloud serves Claude
 * without structured output and strict tools.
 */
export const wire_flags = ['sampling', 'schemas'] as const;

const SAFE = /[^a-zA-Z0-9_-]/gu;

/** What Claude takes of tools. */
export const CLAUDE_TOOL_RULES: ToolRules = {
  names: { illegal: SAFE, max: 128 },
  ids: { illegal: SAFE, max: 64 },
  properties: { illegal: /[^a-zA-Z0-9_.-]/gu, max: 64 },
};

/** Claude takes marks in all parts of a request. */
export const CLAUDE_MARKS: MarkPlaces = { tools: true };

/** The differences of Claude on a cloud. */
export interface ClaudeWire {
  /** The path of a call, which streams if its answer may be long; empty for the operation's own. */
  pathOf: (call: ChatCall, upstream: Upstream) => string;
  /**
   * `anthropic`: the body has `model` and `stream`. Otherwise the path has them, and the body has
   * this version of the API.
   */
  envelope: 'anthropic' | { anthropic_version: string };
  /** The features that a cloud takes, and where: in the header, or in a field of the body. */
  features?: { taken: TakenBetas; are_in: 'header' | 'body' };
}

/**
 * An answer of more tokens may take longer than the ten minutes for which the API keeps a call
 * open that does not stream.
 */
const WHOLE_TOKENS = 21_333;

/** Fields that an operator's `set` must not change, as the hold is based on them. */
const FIXED = new Set(['model', 'messages', 'stream', 'n', 'max_tokens', 'max_completion_tokens']);

/** A codec for Claude, at Anthropic or elsewhere. */
export function claudeCodec({ pathOf, envelope, features }: ClaudeWire): ChatCodec {
  const { taken, are_in } = features ?? { taken: 'all', are_in: 'header' };
  const isOwn = envelope === 'anthropic';
  const encode = (call: ChatCall, upstream: Upstream): Encoded => {
    const chosen = betasOfCall(call, upstream, taken);
    const made = messagesBody(call, upstream, isOwn ? chosen.betas : undefined);
    const { body } = made;
    const asked = [...(made.betas ?? chosen.betas)];
    const stream = call.stream || body.max_tokens > WHOLE_TOKENS;
    const around = isOwn ? { model: upstream.model, stream } : envelope;
    const field = are_in === 'body' && asked.length > 0 ? { anthropic_beta: asked } : {};
    const isTaken = (name: string): boolean =>
      isOwn || (name === SAFEGUARDS.field && asked.includes(SAFEGUARDS.beta));
    const whole = withOtherFields({ ...around, ...field, ...body }, call, upstream, isTaken);
    return {
      path: pathOf({ ...call, stream }, upstream),
      body: withOverrides(whole, upstream),
      ...(are_in === 'header' && asked.length > 0 && { headers: { [BETAS]: asked.join(',') } }),
      ignored: [...chosen.ignored, ...made.ignored],
      ...(stream !== call.stream && { is_stream: true }),
    };
  };
  const pickFields = isOwn ? otherFields : safeguardResults;
  return {
    encode,
    decode: (body, call, upstream) => {
      const reply = decode(body, call, upstream);
      return call.others && isRecord(body) ? withOthers(reply, pickFields(body)) : reply;
    },
    decodeStream: (call, upstream) =>
      decodeStream(call, upstream, call.others ? pickFields : noFields),
    toolRules: () => CLAUDE_TOOL_RULES,
    cacheMarks: () => CLAUDE_MARKS,
    estimateTokens,
    moves_texts: true,
  };
}

/** Fields of an answer that are read, or that say what only the upstream's own account may know. */
const ANSWER_FIELDS = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'usage',
  'container',
]);

/** An answer with its further fields, for a client that spoke this very API. */
function withOthers(reply: ChatReply, others: Record<string, unknown>): ChatReply {
  return Object.keys(others).length === 0 ? reply : { ...reply, others };
}

function otherFields(answer: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !ANSWER_FIELDS.has(name)));
}

/** The further field of an answer from a cloud. */
function safeguardResults({ [SAFEGUARDS.results]: results }: Record<string, unknown>) {
  return results === undefined ? noFields() : { [SAFEGUARDS.results]: results };
}

function noFields(): Record<string, unknown> {
  return {};
}

/** The body with the client's further fields, which take the place of none. */
function withOtherFields(
  body: Record<string, unknown>,
  { others = [] }: ChatCall,
  { drop }: Upstream,
  isTaken: (name: string) => boolean,
): Record<string, unknown> {
  const whole = { ...body };
  for (const { path, value } of others) {
    const [name, inner] = path;
    const there = whole[name];
    if (drop.includes(name) || READ.has(name) || !isTaken(name)) continue;
    if (inner === undefined) whole[name] ??= value;
    else whole[name] = { [inner]: value, ...(isRecord(there) && there) };
  }
  return whole;
}

/** The body with the operator's `rename` and `set`; a block that is set adds to its namesake. */
function withOverrides(
  body: Record<string, unknown>,
  { rename, set }: Upstream,
): Record<string, unknown> {
  renameFields(body, rename, (from, to) => !FIXED.has(from) && !FIXED.has(to));
  const merged = Object.entries(set).map(([name, value]) => {
    const there = body[name];
    return [name, isRecord(there) && isRecord(value) ? { ...there, ...value } : value];
  });
  setFields(body, Object.fromEntries(merged), FIXED);
  return body;
}
