import type {
  ChatCall,
  ChatChoice,
  ChatCodec,
  ChatReply,
  ToolRules,
} from '../../src/modalities/chat/codec.js';
import type { Encoded } from '../../src/core/provider.js';
import {
  broken,
  checked,
  finishOf,
  isIndex,
  replyTextIn,
  annotationsIn,
  tierIn,
  usageIn,
  hasThinkTags,
  newThink,
  splitThink,
  type Beside,
} from './answer.js';
import { writeCustomTools } from './custom-tools.js';
import { decodeStream } from './stream.js';
import { signatureDetail, sentMessages, detailsIn, reasoningSent } from './messages.js';
import { forceOrThink } from './forced-tools.js';
import { writeSchemaAsInstruction } from './json-instruction.js';
import { isListed } from './model-prefixes.js';
import {
  compactionFormat,
  needsResponses,
  searchesByResponses,
  servedByResponses,
} from './responses-need.js';
import { chatToolRules } from './tool-rules.js';
import { toolCallsIn } from './tools.js';
import { countsOfNames, noteExecuted } from './tool-counts.js';
import { renameFields, setFields } from '../../src/core/field-changes.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, recordsIn, memoizeByObject } from '../../src/lib/objects.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { effortsOf, fitToEfforts } from './efforts.js';
import type { OpenAiModel } from './models.js';
import { fitToModel, rulesOf } from './reasoning.js';
import { leaveOutField, refusedOf } from './refused-fields.js';

/** Chat completions, OpenAI's first chat API. */
const completions = { encode, decode, decodeStream, toolRules };

/** Sends the calls that the models of an upstream refuse as chat completions to `responses`. */
export function withResponses(responses: typeof completions): ChatCodec {
  const codecFor = (call: ChatCall, upstream: Upstream): typeof completions => {
    if (call.compaction && compactionFormat(upstream) !== undefined) return responses;
    const served = servedByResponses(upstream);
    const isNeeded = served !== null && needsResponses(call, upstream, served);
    return isNeeded || searchesByResponses(call, upstream) ? responses : completions;
  };
  return {
    encode: (call, upstream) => codecFor(call, upstream).encode(call, upstream),
    decode: (body, call, upstream) => codecFor(call, upstream).decode(body, call, upstream),
    decodeStream: (call, upstream) => codecFor(call, upstream).decodeStream(call, upstream),
    toolRules: (call, upstream) => codecFor(call, upstream).toolRules(call, upstream),
    reasoningSent,
    compactionFormat,
    moves_texts: true,
  };
}

function toolRules(_: ChatCall, upstream: Upstream): ToolRules {
  return chatToolRules(upstream);
}

function encode(call: ChatCall, upstream: Upstream): Encoded {
  const { messages, ignored } = call.is_plain
    ? { messages: call.messages, ignored: NOTHING }
    : sentMessages(call.messages, upstream);
  // A literal that gets further fields is many times faster than assigning to an empty object.
  const body: Record<string, unknown> = { model: upstream.model, messages, stream: call.stream };
  if (call.max_tokens !== undefined) body[limitField(upstream)] = call.max_tokens;
  if (call.n > 1) body.n = call.n;
  const extra = extraFields(call, upstream);
  Object.assign(body, extra.fields);
  if (call.custom_tools) writeCustomTools(body, call.custom_tools, upstream);
  changeFields(body, upstream);
  const { wire } = upstream.provider;
  if (wire.json_schema === 'instruction') writeSchemaAsInstruction(body);
  const isUnforced = wire.forced_tools === 'not_thinking' && forceOrThink(body);
  if (!isUnforced && ignored.length === 0 && extra.ignored.length === 0) return { path: '', body };
  const names = [...ignored, ...extra.ignored, ...(isUnforced ? ['tool_choice'] : NOTHING)];
  return { path: '', body, ignored: [...new Set(names)] };
}

/** Reasoning models of OpenAI refuse the older name of the limit, and other servers the newer. */
const limitField = memoizeByObject((upstream: Upstream): string => {
  const { provider, rename } = upstream;
  const isNewer = isListed(upstream, provider.wire.max_completion_tokens);
  return isNewer && rename.max_tokens === undefined ? 'max_completion_tokens' : 'max_tokens';
});

const PRICED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
]);

const changesFields = memoizeByObject(
  ({ rename, set }: Upstream) => Object.keys(rename).length > 0 || Object.keys(set).length > 0,
);

/** Applies `rename` and `set` in place. Fields of the price may be renamed, and not be set. */
function changeFields(body: RequestFields, upstream: Upstream): void {
  if (!changesFields(upstream)) return;
  const { rename, set } = upstream;
  const fixed = new Set(PRICED);
  renameFields(body, rename, (from, to) => {
    const isPriced = from === 'n' || from === 'max_tokens';
    const isAllowed = isPriced || !fixed.has(to);
    if (isPriced) fixed.add(to);
    return isAllowed;
  });
  setFields(body, set, fixed);
}

function decode(body: unknown, call: ChatCall, { provider }: Upstream): ChatReply {
  const answer = checked(body, provider);
  const choices = recordsIn(answer.choices);
  if (choices.length === 0) throw broken('The upstream gave no answer.');
  const isNumbered = areNumbered(choices);
  const readsTags = hasThinkTags(call, provider.wire);
  return {
    choices: choices.map((choice, at) =>
      decodeChoice(isNumbered ? choice : { ...choice, index: at }, provider, readsTags),
    ),
    usage: usageIn(answer, provider.wire, { tier: tierIn(answer), tool_calls: toolsRun(choices) }),
  };
}

/** The counts of the tools that the server has run for the choices. */
function toolsRun(choices: readonly Record<string, unknown>[]): Beside['tool_calls'] {
  const executed = new Map<unknown, string>();
  for (const { message } of choices) if (isRecord(message)) noteExecuted(message, executed);
  return countsOfNames(executed.values());
}

/** Whether each choice has an index, and no two have the same. */
function areNumbered(choices: readonly Record<string, unknown>[]): boolean {
  if (choices.length === 1) return isIndex(choices[0]?.index);
  const indexes = choices.map((choice) => choice.index);
  return indexes.every(isIndex) && new Set(indexes).size === indexes.length;
}

function decodeChoice(
  choice: Record<string, unknown>,
  provider: Upstream['provider'],
  readsTags: boolean,
): ChatChoice {
  const finish_reason = finishOf(choice, provider);
  const message = isRecord(choice.message) ? choice.message : {};
  const reply = replyTextIn(message);
  if (readsTags && reply.content) {
    const { content, reasoning } = splitThink(newThink(), reply.content, true);
    reply.content = content;
    reply.reasoning ||= reasoning;
  }
  const tool_calls = message.tool_calls ? toolCallsIn(message.tool_calls) : [];
  const hasDetails = 'reasoning_details' in message || 'extra_content' in message;
  const details = hasDetails
    ? [...detailsIn(message.reasoning_details), ...signatureDetail(message)]
    : [];
  const content = reply.content || tool_calls.length === 0 ? (reply.content ?? '') : null;
  const decoded: ChatChoice = { index: Number(choice.index), content, finish_reason };
  if (content && reply.is_refusal) decoded.is_refusal = true;
  if (tool_calls.length > 0) decoded.tool_calls = tool_calls;
  if (reply.reasoning) decoded.reasoning_content = reply.reasoning;
  if (details.length > 0) decoded.reasoning_details = details;
  const annotations = annotationsIn(message);
  if (annotations) decoded.annotations = annotations;
  if (choice.logprobs != null) decoded.logprobs = choice.logprobs;
  return decoded;
}

type RequestFields = Record<string, unknown>;

/** The fields of a request that do not affect its price, and the names of those left out. */
export interface ExtraFields {
  fields: Readonly<RequestFields>;
  ignored: readonly string[];
}

export const NOTHING: readonly string[] = [];

/** The words of other APIs for the tier `default`. */
const STANDARD: ReadonlySet<string> = new Set(['standard', 'standard_only']);

/**
 * All other fields of a call, in the upstream's form. They are copied only if one changes. `rules`
 * are those of the upstream's model.
 */
export function extraFields(
  call: ChatCall,
  upstream: Upstream,
  rules: OpenAiModel | null = rulesOf(upstream),
): ExtraFields {
  const { drop } = upstream;
  const { wire } = upstream.provider;
  const { tools, reasoning_effort, stop, service_tier } = call.fields;
  if (Array.isArray(stop)) refuseStops(stop, wire);
  const asksUsage = call.stream && wire.stream_options !== false;
  const says = reasoning_effort !== undefined && wire.effort !== undefined;
  const efforts = reasoning_effort === undefined ? null : effortsOf(upstream);
  const refused = refusedOf(upstream) ?? NOTHING;
  const isOtherTier = typeof service_tier === 'string' && STANDARD.has(service_tier);
  const isFitted = says || rules || efforts || refused.length > 0 || isOtherTier;
  if (!asksUsage && drop.length === 0 && tools === undefined && !isFitted) {
    return { fields: call.fields, ignored: NOTHING };
  }
  const fields: RequestFields = Object.assign({}, call.fields);
  if (isOtherTier) fields.service_tier = 'default';
  if (asksUsage) fields.stream_options = { include_usage: true };
  const ignored = [
    ...(efforts ? fitToEfforts(fields, efforts) : NOTHING),
    ...(says && fields.reasoning_effort !== undefined ? writeEffort(fields, wire.effort) : NOTHING),
    ...(wire.cache_control === true ? NOTHING : unmark(fields)),
    ...dropFields(fields, drop),
    ...(rules ? fitToModel(fields, rules, upstream) : NOTHING),
    ...refused.filter((name) => leaveOutField(fields, name)),
  ];
  return { fields, ignored };
}

function refuseStops(stop: readonly unknown[], { max_stops }: Readonly<RequestFields>): void {
  if (typeof max_stops !== 'number' || stop.length <= max_stops) return;
  const message = `stop must name at most ${max_stops} texts for this model.`;
  throw new UpstreamError('unsupported', message, undefined, { param: 'stop' });
}

/** Answers the names of the fields that were there. */
export function dropFields(fields: RequestFields, names: readonly string[]): string[] {
  return names.filter((name) => {
    if (!Object.hasOwn(fields, name)) return false;
    // Without tool_choice, the upstream would call tools that the client has forbidden.
    const saysNone = name === 'tool_choice' && fields[name] === 'none';
    if (saysNone) delete fields.tools;
    delete fields[name];
    return !saysNone;
  });
}

/** Takes marks for the cache off the tools. */
function unmark(fields: RequestFields): readonly string[] {
  const { tools } = fields;
  if (!Array.isArray(tools) || !recordsIn(tools).some((tool) => 'cache_control' in tool)) {
    return NOTHING;
  }
  fields.tools = tools.map((tool: unknown) => {
    if (!isRecord(tool)) return tool;
    const { cache_control: _, ...rest } = tool;
    return rest;
  });
  return ['tools[].cache_control'];
}

/** Reports a level that the upstream can only turn on or off, which loses a part of it. */
function writeEffort(fields: RequestFields, how: unknown): readonly string[] {
  const { reasoning_effort: effort, reasoning } = fields;
  const isOn = effort !== 'none';
  if (how === 'none_as_thinking' && isOn) return NOTHING;
  delete fields.reasoning_effort;
  if (how === 'reasoning') {
    fields.reasoning = { effort, ...(isRecord(reasoning) && reasoning) };
    return NOTHING;
  }
  if (how === 'enable_thinking') fields.enable_thinking ??= isOn;
  else fields.thinking ??= { type: isOn ? 'enabled' : 'disabled' };
  return isOn ? ['reasoning_effort'] : NOTHING;
}
