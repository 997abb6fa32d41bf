import type { ChatCall, ChatChoice, ChatCodec, ChatReply } from '../src/modalities/chat/codec.js';
import type { Encoded } from '../src/core/provider.js';
import {
  broken,
  checked,
  finishOf,
  isIndex,
  replyTextIn,
  usageIn,
  hasThinkTags,
  newThink,
  splitThink,
} from './openai/answer.js';
import { writeCustomTools } from './openai/custom-tools.js';
import { decodeStream } from './openai/stream.js';
import { signatureDetail, sentMessages, detailsIn, reasoningSent } from './openai/messages.js';
import { forceOrThink } from './openai/forced-tools.js';
import { writeSchemaAsInstruction } from './openai/json-instruction.js';
import { extraFields, NOTHING } from './openai/fields.js';
import { needsResponses } from './openai/responses-need.js';
import { responses } from './openai/responses.js';
import { toolCallsIn } from './openai/tools.js';
import type { Upstream } from '../src/core/model.js';
import { isRecord, recordsIn } from '../src/lib/is-record.js';
import { memoizeByObject } from '../src/lib/memoize-by-object.js';

/** The wire flags that this codec reads. */
export const wire_flags = [
  'stream_options',
  'completion_from_total',
  'think_tags',
  'tool_id_length',
  'reasoning_back',
  'thought_signatures',
  'cache_control',
  'files',
  'text_content',
  'effort',
  'max_completion_tokens',
  'custom_tools',
  'openai_models',
  'max_stops',
  'effort_values',
  'refused_fields',
  'message_names',
  'json_schema',
  'forced_tools',
  'responses',
] as const;

/**
 * OpenAI's chat wire, which most upstreams speak with differences. The flags in a manifest's `wire`
 * describe them. For answers:
 * - `completion_from_total`: completion tokens leave out reasoning, which the total has.
 * - `think_tags`: reasoning may stand in the text as `<think>…</think>`.
 *
 * For requests:
 * - `stream_options: false`: usage is always sent, and `stream_options` is an error.
 * - `tool_id_length`: the exact length of tool call IDs.
 * - `reasoning_back`: the field for the reasoning of earlier answers. Without it, reasoning is left
 *   out. `reasoning_content`; `tool_reasoning_content`, the same, but only on messages with tool
 *   calls, which require it; `reasoning`; `reasoning_details`; `think_tags`, in the text.
 * - `thought_signatures`: Gemini's signatures go back beside the tool calls.
 * - `cache_control`: cache marks are accepted, and sent.
 * - `files`: parts of type `file` are accepted. Without it, they are `unsupported`.
 * - `text_content`: content is one text, never a list of texts and never null.
 * - `effort`: the form of `reasoning_effort`. `reasoning`: as `reasoning.effort`; `thinking`: as
 *   `thinking.type`, on or off; `enable_thinking`: as true or false; `none_as_thinking`: unchanged,
 *   except that `none` is sent as `thinking.type`.
 * - `max_completion_tokens`: prefixes of the names of models that refuse `max_tokens`.
 * - `custom_tools`: prefixes of the names of models that accept tools of type `custom`.
 * - `openai_models`: the models are OpenAI's. Fields that one refuses, by its name, are left out:
 *   sampling parameters for models that reason, and `reasoning_effort` for all others.
 * - `max_stops`: the most stop sequences. More are `unsupported`.
 * - `effort_values`: the values of `reasoning_effort` that models take, by the longest prefix of
 *   their names. Others become the nearest one, or are left out.
 * - `refused_fields`: the fields that models refuse, by the longest prefix of their names. They are
 *   left out, except `stop`, which is `unsupported`.
 * - `message_names`: the roles whose messages may have a `name`. Without it, all.
 * - `json_schema: instruction`: only JSON of any kind is known. A system message has the schema.
 * - `forced_tools: not_thinking`: a model that thinks, as it does by default, must not be forced to
 *   call a tool.
 * - `responses`: the upstream has OpenAI's Responses API too. Calls that its models refuse on this
 *   wire, by their names, go there.
 */
export const chat: ChatCodec = {
  encode: (call, upstream) => wireFor(call, upstream).encode(call, upstream),
  decode: (body, call, upstream) => wireFor(call, upstream).decode(body, call, upstream),
  decodeStream: (call, upstream) => wireFor(call, upstream).decodeStream(call, upstream),
  reasoningSent,
};

const completions = { encode, decode, decodeStream };

function wireFor(call: ChatCall, upstream: Upstream): Omit<ChatCodec, 'reasoningSent'> {
  return needsResponses(call, upstream) ? responses : completions;
}

function encode(call: ChatCall, upstream: Upstream): Encoded {
  const { messages, ignored } = sentMessages(call.messages, upstream);
  // A literal that gets further fields is many times faster than assigning to an empty object.
  const body: Record<string, unknown> = { model: upstream.model, messages, stream: call.stream };
  if (call.max_tokens !== undefined) body[limitField(upstream)] = call.max_tokens;
  if (call.n > 1) body['n'] = call.n;
  const extra = extraFields(call, upstream);
  Object.assign(body, extra.fields);
  writeCustomTools(body, call, upstream);
  const fixed = renameFields(body, upstream.rename);
  for (const [name, value] of Object.entries(upstream.set)) {
    if (!fixed.has(name)) body[name] = value;
  }
  const { wire } = upstream.provider;
  if (wire['json_schema'] === 'instruction') writeSchemaAsInstruction(body);
  const isUnforced = wire['forced_tools'] === 'not_thinking' && forceOrThink(body);
  if (!isUnforced && ignored.length === 0 && extra.ignored.length === 0) return { path: '', body };
  const names = [...ignored, ...extra.ignored, ...(isUnforced ? ['tool_choice'] : NOTHING)];
  return { path: '', body, ignored: [...new Set(names)] };
}

/** Reasoning models of OpenAI refuse the older name of the limit, and other servers the newer. */
const limitField = memoizeByObject(({ provider: { wire }, model, rename }: Upstream): string => {
  const begins: unknown = wire['max_completion_tokens'];
  if (!Array.isArray(begins) || rename['max_tokens'] !== undefined) return 'max_tokens';
  const isNewer = begins.some((name) => typeof name === 'string' && model.startsWith(name));
  return isNewer ? 'max_completion_tokens' : 'max_tokens';
});

const PRICED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
]);

/** Renames fields in place. Returns the new names of the fields that `set` must not change. */
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

function decode(body: unknown, call: ChatCall, { provider }: Upstream): ChatReply {
  const answer = checked(body, provider);
  const choices = recordsIn(answer['choices']);
  if (choices.length === 0) throw broken('The upstream gave no answer.');
  const isNumbered = areNumbered(choices);
  const readsTags = hasThinkTags(call, provider.wire);
  return {
    choices: choices.map((choice, at) =>
      decodeChoice(isNumbered ? choice : { ...choice, index: at }, provider, readsTags),
    ),
    usage: usageIn(answer, provider.wire),
  };
}

/** Whether each choice has an index, and no two have the same. */
function areNumbered(choices: readonly Record<string, unknown>[]): boolean {
  if (choices.length === 1) return isIndex(choices[0]?.['index']);
  const indexes = choices.map((choice) => choice['index']);
  return indexes.every(isIndex) && new Set(indexes).size === indexes.length;
}

function decodeChoice(
  choice: Record<string, unknown>,
  provider: Upstream['provider'],
  readsTags: boolean,
): ChatChoice {
  const finish_reason = finishOf(choice, provider);
  const message = isRecord(choice['message']) ? choice['message'] : {};
  const reply = replyTextIn(message);
  if (readsTags && reply.content) {
    const { content, reasoning } = splitThink(newThink(), reply.content, true);
    reply.content = content;
    reply.reasoning ||= reasoning;
  }
  const tool_calls = message['tool_calls'] ? toolCallsIn(message['tool_calls']) : [];
  const details = [...detailsIn(message['reasoning_details']), ...signatureDetail(message)];
  const content = reply.content || tool_calls.length === 0 ? (reply.content ?? '') : null;
  const decoded: ChatChoice = { index: Number(choice['index']), content, finish_reason };
  if (content && reply.is_refusal) decoded.is_refusal = true;
  if (tool_calls.length > 0) decoded.tool_calls = tool_calls;
  if (reply.reasoning) decoded.reasoning_content = reply.reasoning;
  if (details.length > 0) decoded.reasoning_details = details;
  if (choice['logprobs'] != null) decoded.logprobs = choice['logprobs'];
  return decoded;
}
