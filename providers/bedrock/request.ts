import type { ChatCall } from '../../src/modalities/chat/codec.js';
import type { Encoded } from '../../src/core/provider.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord } from '../../src/lib/is-record.js';
import { fieldsOf, merged, restOf, type Fields } from './fields.js';
import { conversationOf, type Turn } from './messages.js';
import { kindOf, refusesSampling, type ModelKind } from './model.js';
import { isThinking, reasoningFields } from './reasoning.js';
import { jsonInstruction, outputConfigOf } from './structured.js';
import { toolConfigOf, type ToolConfig } from './tools.js';

type Body = Record<string, unknown>;

/** A chat call as a request of Converse, or of ConverseStream. */
export function encode(call: ChatCall, upstream: Upstream): Encoded {
  const kind = kindOf(upstream.model);
  const fields = fieldsOf(call, upstream);
  const ignored = new Set<string>();
  const toolConfig = toolConfigOf(fields, kind, ignored);
  const { system, messages } = conversationOf(call.messages, kind, Boolean(toolConfig), ignored);
  const instructions = [...system, ...jsonInstruction(fields)];
  const reasoning = reasoningOf(fields, call, { kind, toolConfig, messages, ignored });
  const sampling = samplingOf(fields, kind, isThinking(reasoning), ignored);
  const outputConfig = outputConfigOf(fields, kind);
  const rest = restOf(fields);
  for (const name of rest.ignored) ignored.add(name);
  const said: Body = {
    messages,
    ...(instructions.length > 0 && { system: instructions }),
    inferenceConfig: sampling.inferenceConfig,
    ...(toolConfig && { toolConfig }),
    ...(outputConfig && { outputConfig }),
    ...serviceTier(fields),
    additionalModelRequestFields: { ...sampling.additional, ...reasoning, ...rest.additional },
  };
  const body = limited(merged(said, rest.converse), call.max_tokens);
  return { path: pathOf(upstream.model, call.stream), body, ignored: [...ignored] };
}

/** The model is one segment of the path, whatever slashes and colons its name has. */
function pathOf(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}

/** The body with the limit that its hold rests on, and without members that say nothing. */
function limited(body: Body, max_tokens: number | undefined): Body {
  const given = isRecord(body['inferenceConfig']) ? body['inferenceConfig'] : {};
  const limit = max_tokens === undefined ? {} : { maxTokens: max_tokens };
  const whole: Body = { ...body, inferenceConfig: { ...given, ...limit } };
  for (const name of ['inferenceConfig', 'additionalModelRequestFields']) {
    const member = whole[name];
    if (isRecord(member) && Object.keys(member).length === 0) delete whole[name];
  }
  return whole;
}

interface Around {
  kind: ModelKind;
  toolConfig: ToolConfig | undefined;
  messages: readonly Turn[];
  ignored: Set<string>;
}

/**
 * What the model is told about its reasoning. It is left out, and named, where the model does not
 * reason on request, or where the rest of the call forbids it.
 */
function reasoningOf(fields: Fields, { max_tokens }: ChatCall, around: Around): Body {
  const { kind, toolConfig, messages, ignored } = around;
  const reasoning = reasoningFields(fields, max_tokens, kind);
  const isForbidden =
    reasoning &&
    isThinking(reasoning) &&
    (toolConfig?.toolChoice !== undefined || isUnfinished(messages, reasoning));
  if (reasoning && !isForbidden) return reasoning;
  ignored.add(isRecord(fields['thinking']) ? 'thinking' : 'reasoning_effort');
  return {};
}

/**
 * Whether the answer goes on from calls of tools that lack the reasoning before them, since an
 * upstream without it made them: a model that thinks by a budget answers 400 to that.
 */
function isUnfinished(messages: readonly Turn[], reasoning: Body): boolean {
  const { thinking } = reasoning;
  if (isRecord(thinking) && thinking['type'] === 'adaptive') return false;
  const isAnswered = ({ content }: Turn): boolean => content.some((part) => 'toolResult' in part);
  const asked = messages.findLastIndex((turn) => turn.role === 'user' && !isAnswered(turn));
  const begun = messages.slice(asked + 1).find(({ role }) => role === 'assistant');
  return begun !== undefined && !begun.content.some((part) => 'reasoningContent' in part);
}

function serviceTier({ service_tier: type }: Fields): Body {
  return typeof type === 'string' && type !== 'auto' ? { serviceTier: { type } } : {};
}

/** How the next token is chosen. Names what the model would answer 400 to. */
function samplingOf(
  fields: Fields,
  kind: ModelKind,
  thinks: boolean,
  ignored: Set<string>,
): { inferenceConfig: Body; additional: Body } {
  const { temperature, top_p, top_k } = fields;
  const isClaude = kind.family === 'claude';
  const isRefused = refusesSampling(kind) || (isClaude && thinks);
  const taken = (name: string, value: unknown, isTaken = !isRefused): value is number => {
    if (typeof value !== 'number') return false;
    if (!isTaken) ignored.add(name);
    return isTaken;
  };
  const inferenceConfig: Body = {};
  // OpenAI's scale ends at 2.
  if (taken('temperature', temperature)) inferenceConfig['temperature'] = Math.min(temperature, 1);
  const isOnly = !isClaude || kind.version < 401 || typeof temperature !== 'number';
  if (taken('top_p', top_p, !isRefused && isOnly)) inferenceConfig['topP'] = top_p;
  const stopSequences = stopsOf(fields['stop'], isClaude, ignored);
  if (stopSequences.length > 0) inferenceConfig['stopSequences'] = stopSequences;
  if (!taken('top_k', top_k)) return { inferenceConfig, additional: {} };
  const additional = kind.family === 'nova' ? { inferenceConfig: { topK: top_k } } : { top_k };
  return { inferenceConfig, additional };
}

/** Claude refuses sequences of white space alone. */
function stopsOf(stop: unknown, isClaude: boolean, ignored: Set<string>): string[] {
  const all = (Array.isArray(stop) ? stop : [stop]).filter((one) => typeof one === 'string');
  const taken = all.filter((one) => (isClaude ? one.trim() : one) !== '');
  if (taken.length < all.length) ignored.add('stop');
  return taken;
}
