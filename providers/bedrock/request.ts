import { betasOfCall, CONVERSE_BETAS } from '../anthropic/betas.js';
import { isClaude } from '../anthropic/models.js';
import type { JsonOutput } from '../anthropic/output.js';
import { samplingOf as claudeSampling } from '../anthropic/sampling.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import type { Encoded } from '../../src/core/provider.js';
import type { Upstream } from '../../src/core/model.js';
import { isPlainTier } from '../../src/core/service-tiers.js';
import { isRecord } from '../../src/lib/objects.js';
import type { Block } from './content.js';
import { unsupported } from './errors.js';
import { fieldsOf, merged, otherFieldsOf, type RequestFields } from './fields.js';
import { conversationOf, type Turn } from './messages.js';
import { targetOf, type Target } from './model.js';
import { isThinking, reasoningOf, type Reasoning } from './reasoning.js';
import { outputConfigOf, outputOf } from './structured.js';
import { toolConfigOf, type ToolConfig } from './tools.js';

type Body = Record<string, unknown>;

/** A chat call as a request of Converse, or of ConverseStream. */
export function encode(call: ChatCall, upstream: Upstream): Encoded {
  const target = targetOf(upstream);
  const fields = fieldsOf(call, upstream);
  const output = outputOf(call, fields, target);
  const toolConfig = toolConfigOf(fields, output, target);
  const conversation = conversationOf(call.messages, target, toolConfig !== undefined);
  checkPrefill(conversation.messages, target);
  const wanted = reasoningOf(call, fields, target);
  const reasoning = possible(wanted, fields, {
    toolConfig,
    messages: conversation.messages,
    target,
  });
  const rest = otherFieldsOf(fields, target.ignored);
  const asked = isClaude(upstream.model)
    ? betasOfCall(call, upstream, CONVERSE_BETAS)
    : { betas: [], ignored: [] };
  // An operator may have set a member of Converse.
  const modelFields = merged(reasoning, recordOf(rest.converse.additionalModelRequestFields));
  const sampling = samplingOf(fields, isThinking(modelFields), target);
  const system = [...conversation.system, ...instructionOf(output)];
  const outputConfig = outputConfigOf(fields, output);
  const own: Body = {
    messages: spoken(conversation.messages, modelFields, target),
    ...(system.length > 0 && { system }),
    inferenceConfig: sampling.inferenceConfig,
    ...(toolConfig && { toolConfig }),
    ...(outputConfig && { outputConfig }),
    ...serviceTier(fields),
    additionalModelRequestFields: {
      ...(asked.betas.length > 0 && { anthropic_beta: asked.betas }),
      ...sampling.additional,
      ...reasoning,
      ...rest.additional,
    },
  };
  const body = limited(merged(own, rest.converse), call.max_tokens);
  const ignored = [...asked.ignored, ...target.ignored];
  return { path: pathOf(upstream.model, call.stream), body, ignored };
}

function recordOf(value: unknown): Body {
  return isRecord(value) ? value : {};
}

/** Encodes the model as one segment of the path, as its name may have slashes and colons. */
function pathOf(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}

/** The body with the limit on which its hold is based, and without empty members. */
function limited(body: Body, max_tokens: number | undefined): Body {
  const given = recordOf(body.inferenceConfig);
  const limit = max_tokens === undefined ? {} : { maxTokens: max_tokens };
  const whole: Body = { ...body, inferenceConfig: { ...given, ...limit } };
  for (const name of ['inferenceConfig', 'additionalModelRequestFields']) {
    const member = whole[name];
    if (isRecord(member) && Object.keys(member).length === 0) delete whole[name];
  }
  return whole;
}

/** The addition to the system prompt that describes the form of the answer. */
function instructionOf(output: JsonOutput | undefined): Block[] {
  return output?.by === 'instruction' ? [{ text: output.text }] : [];
}

function serviceTier({ service_tier: type }: RequestFields): Body {
  if (typeof type !== 'string' || type === 'auto') return {};
  return { serviceTier: { type: isPlainTier(type) ? 'default' : type } };
}

/** Newer Claude models do not go on with the assistant's own words. */
function checkPrefill(messages: readonly Turn[], { model }: Target): void {
  const last = messages.at(-1);
  if (model.prefill || last?.role !== 'assistant') return;
  if (last.content.some((block) => 'toolUse' in block)) return;
  const message = 'This model does not go on with a last message of the assistant.';
  throw unsupported(message, 'messages');
}

interface Around {
  toolConfig: ToolConfig | undefined;
  messages: readonly Turn[];
  target: Target;
}

/**
 * The reasoning without thinking where Claude would answer 400 to it: before a call that is forced,
 * before words of the assistant to go on with, and among calls of tools whose own first thoughts
 * are lost, since another upstream made them.
 */
function possible(
  wanted: Reasoning,
  fields: RequestFields,
  { toolConfig, messages, target }: Around,
): Reasoning {
  if (!isThinking(wanted)) return wanted;
  const { thinking, ...rest } = wanted;
  const byBudget = isRecord(thinking) && thinking.type === 'enabled';
  const isForced = toolConfig?.toolChoice !== undefined;
  const isLost = byBudget && hasLostThoughts(messages);
  if (!isForced && !isLost && messages.at(-1)?.role !== 'assistant') return wanted;
  target.ignored.add(fields.thinking === undefined ? 'reasoning_effort' : 'thinking');
  return rest;
}

function hasLostThoughts(messages: readonly Turn[]): boolean {
  const has = (turn: Turn | undefined, kind: string): boolean =>
    turn?.content.some((block) => kind in block) ?? false;
  if (!has(messages.at(-1), 'toolResult')) return false;
  const lastPrompt = messages.findLastIndex(({ role, content }) => {
    return role === 'user' && !content.some((block) => 'toolResult' in block);
  });
  const first = messages.slice(lastPrompt + 1).find(({ role }) => role === 'assistant');
  return !has(first, 'reasoningContent');
}

/** Removes Claude's thoughts from the turns if it is not to think, as it may refuse them. */
function spoken(
  messages: readonly Turn[],
  { thinking }: Reasoning,
  { family, model }: Target,
): readonly Turn[] {
  const isKept = isRecord(thinking) ? thinking.type !== 'disabled' : model.thinking === 'adaptive';
  if (isKept || family === 'profile') return messages;
  const kept: Turn[] = [];
  for (const { role, content } of messages) {
    const blocks = content.filter((block) => !('reasoningContent' in block));
    const last = kept.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) kept.push({ role, content: blocks });
  }
  return kept;
}

/** How the next token is chosen, by the rules of Claude, which has the most of them. */
function samplingOf(
  fields: RequestFields,
  thinks: boolean,
  target: Target,
): { inferenceConfig: Body; additional: Body } {
  const isClaude = target.family === 'claude';
  const sampling = claudeSampling(isClaude ? fields : { ...fields, stop: [] }, thinks, target);
  const { temperature, top_p: topP, top_k } = sampling;
  const stopSequences = isClaude ? sampling.stop_sequences : stopsOf(fields.stop, target);
  const inferenceConfig: Body = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stopSequences && stopSequences.length > 0 && { stopSequences }),
  };
  if (top_k === undefined) return { inferenceConfig, additional: {} };
  const isNova = target.family.startsWith('nova');
  const additional = isNova ? { inferenceConfig: { topK: top_k } } : { top_k };
  return { inferenceConfig, additional };
}

function stopsOf(stop: unknown, { ignored }: Target): string[] {
  const all = (Array.isArray(stop) ? stop : [stop]).filter((one) => typeof one === 'string');
  if (all.includes('')) ignored.add('stop');
  return all.filter((one) => one !== '');
}
