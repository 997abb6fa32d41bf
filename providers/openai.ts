import type { ChatCall, ChatChoice, ChatCodec, ChatReply } from '../src/modalities/chat/codec.js';
import type { Encoded } from '../src/core/provider.js';
import {
  broken,
  checked,
  finishOf,
  isIndex,
  recordsIn,
  spokenIn,
  usageIn,
} from './openai/answer.js';
import { decodeStream } from './openai/stream.js';
import { newThink, splitThink } from './openai/think-tags.js';
import { shortIds, toolCallsIn } from './openai/tools.js';
import type { Upstream } from '../src/core/model.js';

/** The wire flags that this codec reads. */
export const wire_flags = [
  'stream_options',
  'completion_from_total',
  'think_tags',
  'tool_id_length',
] as const;

/**
 * The chat wire that most upstreams speak, each with its own habits. A manifest's `wire` tells it
 * which: `stream_options: false` where usage comes unasked and asking is an error;
 * `completion_from_total` where completion tokens leave out reasoning; `think_tags` where reasoning
 * stands in the text as `<think>…</think>`; `tool_id_length` where tool call ids have one length.
 */
export const chat: ChatCodec = { encode, decode, decodeStream };

function encode(call: ChatCall, upstream: Upstream): Encoded {
  const idLength = upstream.provider.wire['tool_id_length'];
  // A literal first and the rest assigned to it: the other way round is many times slower.
  const body: Record<string, unknown> = {
    model: upstream.model,
    messages: typeof idLength === 'number' ? shortIds(call.messages, idLength) : call.messages,
    stream: call.stream,
  };
  if (call.max_tokens !== undefined) body['max_tokens'] = call.max_tokens;
  if (call.n > 1) body['n'] = call.n;
  Object.assign(body, extras(call, upstream));
  const fixed = renameFields(body, upstream.rename);
  for (const [name, value] of Object.entries(upstream.set)) {
    if (!fixed.has(name)) body[name] = value;
  }
  return { path: '', body };
}

/** The fields that are neither priced nor held: those that may be dropped. */
function extras(call: ChatCall, { provider, drop }: Upstream): Readonly<Record<string, unknown>> {
  const asksUsage = call.stream && provider.wire['stream_options'] !== false;
  if (!asksUsage && drop.length === 0) return call.fields;
  const fields: Record<string, unknown> = Object.assign({}, call.fields);
  if (asksUsage) fields['stream_options'] = { include_usage: true };
  dropFields(fields, drop);
  return fields;
}

function dropFields(body: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    // An upstream that does not know tool_choice would call the tools it was told to leave.
    if (name === 'tool_choice' && body['tool_choice'] === 'none') delete body['tools'];
    delete body[name];
  }
}

const PRICED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
]);

/** Renames in place, and answers the names that `set` may not touch, whatever they are now. */
function renameFields(
  body: Record<string, unknown>,
  rename: Readonly<Record<string, string>>,
): ReadonlySet<string> {
  const renames = Object.entries(rename);
  if (renames.length === 0) return PRICED;
  const fixed = new Set(PRICED);
  for (const [from, to] of renames) {
    const isPriced = from === 'n' || from === 'max_tokens';
    if (!Object.hasOwn(body, from) || (fixed.has(to) && !isPriced)) continue;
    body[to] = body[from];
    delete body[from];
    if (isPriced) fixed.add(to);
  }
  return fixed;
}

function decode(body: unknown, _: ChatCall, { provider }: Upstream): ChatReply {
  const answer = checked(body, provider);
  const choices = recordsIn(answer['choices']);
  if (choices.length === 0) throw broken('The upstream gave no answer.');
  const indexes = choices.map((choice) => choice['index']);
  const areIndexes = indexes.every(isIndex) && new Set(indexes).size === indexes.length;
  return {
    choices: choices
      .map((choice, at) => (areIndexes ? choice : { ...choice, index: at }))
      .map((choice) => decodeChoice(choice, provider)),
    usage: usageIn(answer, provider.wire),
  };
}

function decodeChoice(choice: Record<string, unknown>, provider: Upstream['provider']): ChatChoice {
  const finish_reason = finishOf(choice, provider);
  const [message = {}] = recordsIn([choice['message']]);
  const spoken = spokenIn(message);
  if (provider.wire['think_tags'] === true && spoken.content) {
    const { content, reasoning } = splitThink(newThink(), spoken.content, true);
    spoken.content = content;
    spoken.reasoning ||= reasoning;
  }
  const tool_calls = toolCallsIn(message['tool_calls']);
  return {
    index: Number(choice['index']),
    content: spoken.content || tool_calls.length === 0 ? (spoken.content ?? '') : null,
    ...(tool_calls.length > 0 && { tool_calls }),
    ...(spoken.reasoning && { reasoning_content: spoken.reasoning }),
    ...(choice['logprobs'] != null && { logprobs: choice['logprobs'] }),
    finish_reason,
  };
}
