import type { Encoded } from '../../src/core/provider.js';
import type { Upstream } from '../../src/core/model.js';
import { toolPriceName, usesOfTool } from '../../src/core/server-tools.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { dropFields, extraFields } from './completions.js';
import { leaveOutField } from './refused-fields.js';
import { decodeResponse } from './responses-answer.js';
import { inputOf } from './responses-input.js';
import { LEAST_TOKENS, servedByResponses } from './responses-need.js';
import { ResponseStream } from './responses-stream.js';
import { RESPONSES_TOOL_RULES } from './tool-rules.js';

type WireObject = Record<string, unknown>;

const PATH = '/responses';
const COMPACT_PATH = '/responses/compact';
/** The fields, beside model and input, of a call that compacts. */
const COMPACT_FIELDS: ReadonlySet<string> = new Set([
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
]);

/**
 * OpenAI's Responses API, for the calls that its chat completions refuse. Nothing is stored there:
 * the state of reasoning comes with the answer, encrypted, and goes back with the next call.
 * Source: OpenAI's API reference, "Create a model response" and "Streaming events".
 */
export const responses = {
  encode,
  decode: decodeResponse,
  decodeStream: (_: ChatCall, upstream: Upstream) => new ResponseStream(upstream.provider),
  toolRules: () => RESPONSES_TOOL_RULES,
};

/** Fields with the same name and meaning in chat completions. */
const SAME: ReadonlySet<string> = new Set([
  'temperature',
  'top_p',
  'user',
  'parallel_tool_calls',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'metadata',
]);

/** Fields that the operator's `set` must not change, because the hold is based on them. */
const PRICED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'input',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
]);

/** Throws the `UpstreamError` `unsupported` for a field that would change the answer. */
function encode(call: ChatCall, upstream: Upstream): Encoded {
  if (call.compaction === 'call') return encodeCompaction(call, upstream);
  refuseMissing(call);
  const { input, ignored } = inputOf(call, upstream);
  const asks = call.compaction === 'item' ? [{ type: 'compaction_trigger' }] : [];
  const { rules } = servedByResponses(upstream) ?? {};
  const extra = extraFields({ ...call, stream: false }, upstream, rules);
  const { chat_fields, own_fields } = setFields(upstream.set);
  const translated = translate({ ...extra.fields, ...chat_fields }, call);
  const body: WireObject = {
    model: upstream.model,
    input: [...input, ...asks],
    stream: call.stream,
    store: false,
    include: ['reasoning.encrypted_content', ...(hasSearch(translated.body) ? [SOURCES] : [])],
    ...(call.max_tokens !== undefined && { max_output_tokens: call.max_tokens }),
    // The padding that hides the length of texts would double the bytes of a stream.
    ...(call.stream && { stream_options: { include_obfuscation: false } }),
    ...translated.body,
  };
  for (const [name, value] of Object.entries(own_fields)) {
    const there = body[name];
    body[name] = isRecord(there) && isRecord(value) ? { ...there, ...value } : value;
  }
  const names = new Set([...ignored, ...extra.ignored, ...translated.ignored]);
  return { path: PATH, body, ...(names.size > 0 && { ignored: [...names] }) };
}

/**
 * A call that compacts its conversation. It has no limit of its output.
 * Source: OpenAI's API reference, "Compact a response".
 */
function encodeCompaction(call: ChatCall, upstream: Upstream): Encoded {
  const [first, ...others] = call.messages;
  const isInstructed = first?.role === 'system' && typeof first.content === 'string';
  const messages = isInstructed ? others : call.messages;
  const { input, ignored } = inputOf({ ...call, messages }, upstream);
  const { own_fields } = setFields(upstream.set);
  const isTaken = ([name]: [string, unknown]): boolean => COMPACT_FIELDS.has(name);
  const given = Object.entries(call.fields);
  const body: WireObject = {
    model: upstream.model,
    ...(isInstructed && { instructions: first.content }),
    input,
    ...Object.fromEntries([...given, ...Object.entries(own_fields)].filter(isTaken)),
  };
  const lost = given.filter((field) => !isTaken(field)).map(([name]) => name);
  const names = new Set([...ignored, ...lost, ...dropFields(body, upstream.drop)]);
  return { path: COMPACT_PATH, body, ...(names.size > 0 && { ignored: [...names] }) };
}

/** What a search has found. */
const SOURCES = 'web_search_call.action.sources';

function hasSearch({ tools }: WireObject): boolean {
  return recordsIn(tools).some(({ type }) => toolPriceName(String(type)) === WEB_SEARCH);
}

function refuseMissing({ n, max_tokens = LEAST_TOKENS }: ChatCall): void {
  const [param, message] =
    n > 1
      ? ['n', 'n: this model gives one answer to a call.']
      : ['max_tokens', `max_tokens: this model takes no limit below ${LEAST_TOKENS}.`];
  if (n <= 1 && max_tokens >= LEAST_TOKENS) return;
  throw new UpstreamError('unsupported', message, undefined, { param });
}

/** Chat fields of the operator's `set` are translated, and all others are sent as they are. */
function setFields(set: Readonly<WireObject>): { chat_fields: WireObject; own_fields: WireObject } {
  const chat_fields: WireObject = {};
  const own_fields: WireObject = {};
  for (const [name, value] of Object.entries(set)) {
    if (PRICED.has(name)) continue;
    if (TRANSLATED.has(name)) chat_fields[name] = value;
    else own_fields[name] = value;
  }
  return { chat_fields, own_fields };
}

const TRANSLATED: ReadonlySet<string> = new Set([
  'reasoning_effort',
  'verbosity',
  'response_format',
  'tools',
  'tool_choice',
]);

function translate(
  given: Readonly<WireObject>,
  { custom_tools, max_tool_calls }: ChatCall,
): { body: WireObject; ignored: string[] } {
  const { reasoning_effort: effort, verbosity, response_format, tools, tool_choice } = given;
  const format = isRecord(response_format) ? formatOf(response_format) : undefined;
  const others: WireObject = { ...given };
  for (const name of TRANSLATED) delete others[name];
  const same = Object.entries(others).filter(([name]) => SAME.has(name));
  for (const [name] of same) delete others[name];
  return {
    body: {
      ...Object.fromEntries(same),
      ...(effort !== undefined && { reasoning: { effort } }),
      ...((format ?? verbosity) !== undefined && {
        text: { ...(format && { format }), ...(verbosity !== undefined && { verbosity }) },
      }),
      ...(tools !== undefined && {
        tools: recordsIn(tools).map((tool) => toolOf(tool, custom_tools)),
      }),
      ...(tool_choice !== undefined && {
        tool_choice: choiceOf(tool_choice, custom_tools, recordsIn(tools)),
      }),
      ...(max_tool_calls !== undefined && {
        max_tool_calls: mostCalls(recordsIn(tools), max_tool_calls),
      }),
    },
    ignored: Object.keys(others).filter((name) => leaveOutField(others, name)),
  };
}

function formatOf({ type, json_schema }: WireObject): WireObject | undefined {
  if (type === 'text') return undefined;
  return { type, ...(isRecord(json_schema) && json_schema) };
}

function toolOf(tool: WireObject, custom_tools: ChatCall['custom_tools']): WireObject {
  const { type, function: offered } = tool;
  if (type !== 'function') return hostedTool(tool);
  if (!isRecord(offered)) return tool;
  const custom = custom_tools?.get(String(offered.name));
  if (custom) return { type: 'custom', ...custom, ...grammarOf(custom) };
  const { parameters = { type: 'object', properties: {} }, strict = false } = offered;
  // Without the last field, this API would make the parameters strict.
  return { type, ...offered, parameters, strict };
}

const WEB_SEARCH = 'web_search';

/** A tool that OpenAI runs itself, also a search in the words of the Messages API. */
function hostedTool(given: WireObject): WireObject {
  const { max_uses: _, ...tool } = given;
  const { type, name, allowed_domains, user_location } = tool;
  if (typeof name !== 'string' || toolPriceName(String(type)) !== WEB_SEARCH) return tool;
  return {
    type: WEB_SEARCH,
    ...(Array.isArray(allowed_domains) && { filters: { allowed_domains } }),
    ...(isRecord(user_location) && { user_location }),
  };
}

/**
 * How often the tools may run together: none more often than a client of the Messages API says of
 * it, as the hold has it.
 */
function mostCalls(tools: readonly WireObject[], bound: number): number {
  const hosted = tools.filter(({ type }) => type !== 'function');
  return Math.min(bound, ...hosted.map((tool) => usesOfTool(tool, bound)));
}

/** The format of a custom tool, whose grammar stands one level higher here. */
function grammarOf(custom: object): WireObject {
  const { format } = custom as WireObject;
  if (!isRecord(format) || !isRecord(format.grammar)) return {};
  return { format: { type: format.type, ...format.grammar } };
}

function choiceOf(
  choice: unknown,
  custom_tools: ChatCall['custom_tools'],
  tools: readonly WireObject[],
): unknown {
  const called = isRecord(choice) ? choice.function : undefined;
  if (!isRecord(called)) return choice;
  const { name } = called;
  const hosted = tools.find((tool) => tool.type !== 'function' && tool.name === name);
  if (hosted) return { type: hostedTool(hosted).type };
  return { type: custom_tools?.has(String(name)) ? 'custom' : 'function', name };
}
