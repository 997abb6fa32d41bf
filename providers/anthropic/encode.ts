import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { isServerToolBlock } from '../../src/core/block-fields.js';
import { isPlainTier } from '../../src/core/service-tiers.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { contextOf, cacheControl, type EncodeContext } from './context.js';
import { conversation } from './messages.js';
import { originalConversation } from './original.js';
import { jsonOutput, type JsonOutput } from './output.js';
import { samplingOf } from './sampling.js';
import { reasoningOf, type Reasoning } from './thinking.js';
import { isForced, toolsOf } from './tools.js';
import type { MessagesBody, Turn } from './wire.js';

/** The output limit where neither the client nor the file names one: the API demands it. */
const DEFAULT_MAX_TOKENS = 4_096;
const MAX_USER_CHARACTERS = 256;
/** The feature that `context_management` is part of. */
const CONTEXT_BETA = 'context-management-2025-06-27';

/** Fields that have a place on this wire. All others are named as ignored. */
export const READ: ReadonlySet<string> = new Set([
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'user',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'thinking',
  'cache_control',
  'context_management',
  'service_tier',
]);
/** Fields of no effect in these values, so that nothing is lost without them. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
};

/**
 * A call for the Messages API, without the envelope, and the names of fields that it leaves out.
 * Throws the `UpstreamError` `unsupported` for a field that the API lacks and that would change the
 * answer.
 */
export function messagesBody(
  call: ChatCall,
  upstream: Upstream,
  betas?: readonly string[],
): { body: MessagesBody; betas: ReadonlySet<string> | undefined; ignored: string[] } {
  const context = contextOf(upstream, betas);
  const fields = fieldsOf(call, upstream, context);
  const { original } = call;
  const { system, turns } = original
    ? originalConversation(original, context, runsTools(fields, context))
    : conversation(call.messages, context);
  const output = jsonOutput({ ...call, fields }, context.model);
  if (output?.by === 'instruction') system.push({ type: 'text', text: output.text });
  const max_tokens = Math.min(
    call.max_tokens ?? DEFAULT_MAX_TOKENS,
    context.model.max_output ?? Infinity,
  );
  const tools = withOutputTool(toolsOf({ ...call, fields }, turns, context), output);
  const wanted = reasoningOf(fields, max_tokens, context, original?.effort !== undefined);
  const reasoning = allowedReasoning(wanted, turns, isForced(tools.tool_choice), fields, context);
  const messages = turnsToSend(turns, reasoning, context);
  preparePrefill(messages, context);
  const body: MessagesBody = {
    max_tokens,
    messages,
    ...(system.length > 0 && { system }),
    ...samplingOf(fields, isThinking(reasoning), context),
    ...tools,
    ...(reasoning.thinking && { thinking: reasoning.thinking }),
    ...outputConfig(output, reasoning),
    ...metadataOf(fields, context),
    ...serviceTier(fields, context),
    ...contextManagement(fields, context),
    ...cacheControl(fields, context),
  };
  return { body, betas: context.betas, ignored: [...context.ignored] };
}

/** The fields to send, without null and without those of the operator's `drop`. */
function fieldsOf({ fields, original }: ChatCall, { drop }: Upstream, { ignored }: EncodeContext) {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined || drop.includes(name)) continue;
    if (READ.has(name)) given[name] = value;
    else if (NEUTRAL[name] !== value) ignored.add(name);
  }
  // The highest level has a name here alone.
  if (original?.effort === 'max' && given.reasoning_effort === 'xhigh') {
    given.reasoning_effort = 'max';
  }
  // Without a choice, the model would call tools that the client has forbidden.
  if (drop.includes('tool_choice') && fields.tool_choice === 'none') delete given.tools;
  return given;
}

/** Whether the API itself can run tools in this call. */
function runsTools({ tools }: ChatCall['fields'], { betas }: EncodeContext): boolean {
  return betas !== undefined && recordsIn(tools).some(({ type }) => type !== 'function');
}

function withOutputTool(
  tools: Pick<MessagesBody, 'tools' | 'tool_choice'>,
  output: JsonOutput | undefined,
): Pick<MessagesBody, 'tools' | 'tool_choice'> {
  if (output?.by !== 'tool') return tools;
  const { name } = output.tool;
  return {
    tools: [...(tools.tools ?? []).filter((tool) => tool.name !== name), output.tool],
    tool_choice: { type: 'tool', name, disable_parallel_tool_use: true },
  };
}

function isThinking({ thinking }: Reasoning): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

/**
 * Turns thinking off where the API would refuse it: with a forced tool call, if the client wants
 * the assistant's last text continued, and within a round of tool calls whose first thoughts the
 * client did not send back.
 */
function allowedReasoning(
  wanted: Reasoning,
  turns: readonly Turn[],
  isForcedCall: boolean,
  fields: Readonly<Record<string, unknown>>,
  { ignored }: EncodeContext,
): Reasoning {
  if (!isThinking(wanted)) return wanted;
  const isLost = wanted.thinking?.type === 'enabled' && hasLostThoughts(turns);
  if (!isForcedCall && !isLost && !isContinued(turns.at(-1))) return wanted;
  ignored.add(fields.thinking === undefined ? 'reasoning_effort' : 'thinking');
  const { thinking: _, ...rest } = wanted;
  return rest;
}

/** Whether the answer goes on with a text. One that paused at a tool goes on to think. */
function isContinued(last: Turn | undefined): boolean {
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  return block !== undefined && !isServerToolBlock(block);
}

/**
 * Whether the conversation is within a round of tool calls that does not begin with thoughts. Later
 * steps of a round need no thoughts.
 */
function hasLostThoughts(turns: readonly Turn[]): boolean {
  const isResult = ({ content }: Turn): boolean =>
    content.some(({ type }) => type === 'tool_result');
  const last = turns.at(-1);
  if (!last || !isResult(last)) return false;
  const lastPrompt = turns.findLastIndex((turn) => turn.role === 'user' && !isResult(turn));
  const [first] =
    turns.slice(lastPrompt + 1).find(({ role }) => role === 'assistant')?.content ?? [];
  return first?.type !== 'thinking' && first?.type !== 'redacted_thinking';
}

/**
 * Keeps the thoughts in the turns only if the model is to think, as it may refuse them otherwise.
 * Newer models think by default.
 */
function turnsToSend(turns: Turn[], { thinking }: Reasoning, { model }: EncodeContext): Turn[] {
  const isKept = thinking ? thinking.type !== 'disabled' : model.thinking === 'adaptive';
  if (isKept) return turns;
  const kept: Turn[] = [];
  for (const turn of turns) {
    const content = turn.content.filter(
      ({ type }) => type !== 'thinking' && type !== 'redacted_thinking',
    );
    const last = kept.at(-1);
    if (turn.role === 'system') kept.push(turn);
    else if (last?.role === turn.role) last.content.push(...content);
    else if (content.length > 0) kept.push({ role: turn.role, content });
  }
  return kept;
}

/** The words of the assistant that the answer is to go on with. Trailing space is refused there. */
function preparePrefill(turns: Turn[], { model }: EncodeContext): void {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.type !== 'text') return;
  if (model.prefill) {
    last.content[last.content.length - 1] = { ...block, text: block.text.trimEnd() };
    return;
  }
  const message = 'messages: this model does not go on with a last message of the assistant.';
  throw new UpstreamError('unsupported', message, undefined, { param: 'messages' });
}

function outputConfig(
  output: JsonOutput | undefined,
  { effort }: Reasoning,
): Pick<MessagesBody, 'output_config'> {
  const schema = output?.by === 'format' ? output.schema : undefined;
  if (!schema && !effort) return {};
  return {
    output_config: {
      ...(effort && { effort }),
      ...(schema && { format: { type: 'json_schema', schema } }),
    },
  };
}

function metadataOf(
  { user }: Readonly<Record<string, unknown>>,
  { ignored }: EncodeContext,
): Pick<MessagesBody, 'metadata'> {
  if (typeof user !== 'string' || user === '') return {};
  if (user.length <= MAX_USER_CHARACTERS) return { metadata: { user_id: user } };
  ignored.add('user');
  return {};
}

/** The two tiers that can be asked for: the others are chosen by the account's own contract. */
function serviceTier(
  { service_tier: tier }: Readonly<Record<string, unknown>>,
  { ignored }: EncodeContext,
): Pick<MessagesBody, 'service_tier'> {
  if (tier === undefined) return {};
  if (tier === 'auto' || tier === 'priority') return { service_tier: 'auto' };
  if (typeof tier === 'string' && isPlainTier(tier)) return { service_tier: 'standard_only' };
  ignored.add('service_tier');
  return {};
}

/** The allowed edits of a long conversation. A summary is another call, which no hold covers. */
function contextManagement(
  { context_management: given }: Readonly<Record<string, unknown>>,
  { betas, ignored }: EncodeContext,
): Pick<MessagesBody, 'context_management'> {
  if (!isRecord(given)) return {};
  const requested = recordsIn(given.edits);
  const edits = requested.filter(
    ({ type }) => typeof type === 'string' && type.startsWith('clear_'),
  );
  const isTaken = betas !== undefined && edits.length > 0;
  if (!isTaken || edits.length < requested.length) ignored.add('context_management');
  if (!isTaken) return {};
  betas.add(CONTEXT_BETA);
  return { context_management: { edits } };
}
