import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { headerSafe } from '../../../http/ignored-header.js';
import type { SourceTexts } from '../../../lib/source-texts.js';
import type { ChatCompletionBody } from '../../../schema-types/chat-completion.js';
import type { ResponsesBody, ResponsesItem } from '../../../schema-types/responses.js';
import type { ChatRequest } from '../call.js';
import { ClientNames } from '../client-names.js';
import { BodyShape } from './body-shape.js';
import { chatRequest, foreignFields, LEGACY_FIELDS } from './chat-completion.js';
import { Conversation, searchIds, toolsOfItem } from './responses-input.js';
import { ToolList } from './responses-tools.js';

/** Fields with the same name in chat completions. */
const SAME: ReadonlySet<string> = new Set(['model', 'stream', 'temperature', 'top_p', 'user']);

/** Fields that are translated below, or that the gateway handles itself. */
const OWN: ReadonlySet<string> = new Set([
  'input',
  'instructions',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'previous_response_id',
  'conversation',
  'prompt',
  'background',
  'include',
  'metadata',
  'store',
  'stream_options',
  'top_logprobs',
  'truncation',
]);

/** Fields of chat completions that this API does not have, so that no schema has checked them. */
const FOREIGN: ReadonlySet<string> = new Set([
  ...foreignFields([...SAME, ...OWN]),
  ...LEGACY_FIELDS,
  'verbosity',
  'logprobs',
]);

const WHOLE = 'send the whole conversation';
/** Fields that need answers to be kept, and what to do in place of each. */
const STATE_FIELDS = [
  ['background', 'wait for the answer, or stream it'],
  ['previous_response_id', WHOLE],
  ['conversation', WHOLE],
  ['prompt', 'send its text as instructions and input'],
] as const;
const SHAPE = new BodyShape('responses');
const SEALED = 'reasoning.encrypted_content';
const LOGPROBS = 'message.output_text.logprobs';

/** Maps names of fields in chat completions to this API's, for errors and ignored fields. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['messages', 'input'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
  ['logprobs', `include[].${LOGPROBS}`],
  ['messages[].content[].image_url.detail', 'input[].content[].detail'],
]);

/**
 * A request of the Responses API as a chat request for a model. Throws `GatewayError` if the model
 * cannot do it, or if it refers to an earlier answer: the gateway stores none.
 */
export function responsesRequest(
  body: ResponsesBody,
  model: Model,
  texts?: SourceTexts,
): ChatRequest {
  refuseState(body);
  const given_items = typeof body.input === 'string' ? [userItem(body.input)] : body.input;
  // Only as the last item it asks for something.
  const compacts = given_items.at(-1)?.type === 'compaction_trigger';
  const items = compacts ? given_items.slice(0, -1) : given_items;
  const given = [...(body.tools ?? []), ...items.flatMap((item) => toolsOfItem(item))];
  const tools = new ToolList(given);
  const names = new ClientNames(WORDS);
  const conversation = new Conversation(model.capabilities, names, tools, searchIds(items));
  if (body.instructions) conversation.instruct(body.instructions);
  items.forEach((item, at) => {
    conversation.read(item, typeof body.input === 'string' ? 'input' : `input[${at}]`);
  });
  const messages = conversation.finish();
  const { travelling, ignored } = othersOf(body);
  const completion: ChatCompletionBody = {
    ...travelling,
    ...wordsOf(body),
    ...(compacts && wholeLimit(body, model)),
    ...tools.toFields(body),
    model: body.model,
    messages,
  };
  const request = names.reading(messages, () => chatRequest(completion, model, texts));
  const compaction = compacts ? 'item' : conversation.isCompacted ? 'earlier' : undefined;
  const left = request.ignored.map((name) => names.ofIgnored(name));
  return {
    ...request,
    call: {
      ...request.call,
      custom_tools: tools.custom_tools,
      ...(compaction && { compaction }),
    },
    tools: tools.names,
    ...((compacts || asksReasoning(body)) && { shows_reasoning: true }),
    names,
    echo: echoOf(body),
    ignored: [...new Set([...left, ...ignored, ...tools.ignored, ...conversation.ignored])],
  };
}

/** A compaction that is cut off is of no use, so the model's whole limit is held for it. */
function wholeLimit(
  { max_output_tokens }: ResponsesBody,
  { limits: { max_tokens } }: Model,
): { max_tokens?: number } {
  const isOpen = max_output_tokens === undefined || max_output_tokens === null;
  return isOpen && max_tokens !== undefined ? { max_tokens } : {};
}

/** Whether the client wants to see the reasoning, or its state for the next turn. */
function asksReasoning({ include, reasoning }: ResponsesBody): boolean {
  return include?.includes(SEALED) === true || typeof reasoning?.summary === 'string';
}

function refuseState(body: ResponsesBody): void {
  for (const [param, instead] of STATE_FIELDS) {
    if (!body[param]) continue;
    const message = `${param} cannot be used, as answers are not kept: ${instead}.`;
    throw new GatewayError('invalid_request', message, { param });
  }
}

function userItem(text: string): ResponsesItem {
  return { role: 'user', content: text };
}

/** The fields that are passed on unchanged, and the names of those without any effect. */
function othersOf(body: ResponsesBody): {
  travelling: Record<string, unknown>;
  ignored: readonly string[];
} {
  const given = Object.entries(body).filter(([name, value]) => !OWN.has(name) && value !== null);
  const { include, store, truncation, stream_options, reasoning, text } = body;
  const unmet = {
    store: store === true,
    truncation: truncation === 'auto',
    'stream_options.include_obfuscation': stream_options?.include_obfuscation === true,
    'reasoning.context': typeof reasoning?.context === 'string',
  };
  return {
    travelling: Object.fromEntries(given.filter(([name]) => !FOREIGN.has(name))),
    ignored: [
      ...given.filter(([name]) => FOREIGN.has(name)).map(([name]) => name),
      ...Object.entries(unmet).flatMap(([name, isUnmet]) => (isUnmet ? [name] : [])),
      // Unknown fields of items and tools are named where those are read.
      ...SHAPE.unknownFields({ text, reasoning, stream_options }),
      ...(include ?? [])
        .filter((name) => name !== SEALED && name !== LOGPROBS)
        .map((name) => headerSafe(`include[].${name}`)),
    ],
  };
}

function wordsOf(body: ResponsesBody): Record<string, unknown> {
  const { max_output_tokens, reasoning, text, include, top_logprobs } = body;
  const hasLogprobs = include?.includes(LOGPROBS) || Boolean(top_logprobs);
  const { format, verbosity } = text ?? {};
  const fields: Record<string, unknown> = {
    max_tokens: max_output_tokens,
    reasoning_effort: reasoning?.effort,
    verbosity,
    response_format: formatOf(format),
    ...(hasLogprobs && { logprobs: true, top_logprobs: top_logprobs || undefined }),
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given);
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): unknown {
  if (!format || format.type === 'text') return undefined;
  const { type, name = 'answer', description, schema, strict } = format;
  if (type === 'json_object') return { type };
  return {
    type,
    json_schema: {
      name,
      ...(description && { description }),
      schema,
      ...(typeof strict === 'boolean' && { strict }),
    },
  };
}

/** The fields of the request that clients expect in the answer. */
function echoOf(body: ResponsesBody): Readonly<Record<string, unknown>> {
  const { instructions, max_output_tokens, metadata, parallel_tool_calls, reasoning } = body;
  const { temperature, text, tool_choice, tools, top_p, user } = body;
  const fields = {
    instructions,
    max_output_tokens,
    metadata,
    parallel_tool_calls,
    ...(reasoning && {
      reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    }),
    temperature,
    ...(text && { text: { ...text, format: text.format ?? { type: 'text' } } }),
    tool_choice,
    tools,
    top_p,
    user,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given);
}
