import { JsonTexts } from '../../../lib/json-text.js';
import { argumentsObject } from '../../../lib/tool-arguments.js';
import type { Bill } from '../../../billing/bill.js';
import type { TokenUsage } from '../../../core/usage.js';
import { isRecord, recordsIn } from '../../../lib/objects.js';
import { plainId, signatureOf } from '../../../lib/tool-id.js';
import type { ChatRequest, AnswerHead } from '../call.js';
import type { ChatChoice, ChatReply, ReasoningDetail, ToolCall } from '../codec.js';
import { enumValue } from './generate-content-enum.js';
import { othersIn, ownSignatures, sealedSignature } from './generate-content-state.js';
import { finishReason } from './openai-answer.js';

/** A whole answer as the Gemini API writes it. */
export function answerOf(
  head: AnswerHead,
  reply: ChatReply,
  { usage }: Bill,
  request: Pick<ChatRequest, 'hides_thoughts' | 'unwraps_value'>,
): object {
  return {
    candidates: reply.choices.map((choice) => {
      const { index, finish_reason, tool_calls, logprobs } = choice;
      const finishReason = finishOf(finish_reason, Boolean(tool_calls));
      return candidate(index, partsOfChoice(choice, request), {
        finishReason,
        ...logprobsOf(logprobs),
      });
    }),
    usageMetadata: contentUsage(usage),
    ...headOf(head),
  };
}

/** The fields of every answer and every event. */
export function headOf({ id, model }: AnswerHead): object {
  return { modelVersion: model, responseId: id.replace(/^chatcmpl-/u, '') };
}

/**
 * One choice, or the next parts of one. It always has a part: Google's clients drop a turn without
 * parts.
 */
export function candidate(index: number, parts: readonly object[], more: object): object {
  const nonEmpty = parts.length > 0 ? parts : [{ text: '' }];
  return { content: { role: 'model', parts: nonEmpty }, ...more, index };
}

function partsOfChoice(
  choice: ChatChoice,
  { hides_thoughts, unwraps_value }: Pick<ChatRequest, 'hides_thoughts' | 'unwraps_value'>,
): object[] {
  const { content, reasoning_content, reasoning_details = [], tool_calls = [] } = choice;
  const texts = new JsonTexts();
  const calls = tool_calls.map((call) => callPart(call, texts));
  return [
    ...(!hides_thoughts && reasoning_content ? [{ text: reasoning_content, thought: true }] : []),
    ...(content ? [{ text: unwraps_value ? enumValue(content) : content }] : []),
    ...withState(calls, othersIn(reasoning_details)),
    ...ownSignatures(reasoning_details).map(signedPart),
  ];
}

/** A signature that belongs to no call. */
export function signedPart(thoughtSignature: string): object {
  return { text: '', thoughtSignature };
}

/** Adds the state of an upstream other than Gemini to the first call, or to a part of its own. */
export function withState(calls: readonly object[], state: readonly ReasoningDetail[]): object[] {
  if (state.length === 0) return [...calls];
  const thoughtSignature = sealedSignature(state);
  const [first, ...others] = calls;
  return first ? [{ ...first, thoughtSignature }, ...others] : [signedPart(thoughtSignature)];
}

/** A tool call, with the signature that its ID contains. */
export function callPart(
  { id, function: { name, arguments: args } }: ToolCall,
  texts?: JsonTexts,
): object {
  const thoughtSignature = signatureOf(id);
  const functionCall = { id: plainId(id), name, args: argumentsObject(args, texts) };
  return { functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) };
}

const FINISHES: Readonly<Record<string, string>> = {
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

/** A finish reason as this API writes it. */
export function finishOf(finish_reason: string | null | undefined, hasCalls: boolean): string {
  return FINISHES[finishReason(finish_reason, hasCalls)] ?? 'STOP';
}

interface TokenProbability {
  token: string;
  logProbability: number;
}

/** The log probabilities of a choice's tokens; no fields if the upstream reported none. */
export function logprobsOf(logprobs: unknown): object {
  const tokens = isRecord(logprobs) ? recordsIn(logprobs.content) : [];
  const read = tokens.flatMap((token) =>
    probabilityIn(token).map((chosen) => ({
      chosen,
      candidates: recordsIn(token.top_logprobs).flatMap(probabilityIn),
    })),
  );
  if (read.length === 0) return {};
  return {
    avgLogprobs: read.reduce((sum, { chosen }) => sum + chosen.logProbability, 0) / read.length,
    logprobsResult: {
      chosenCandidates: read.map(({ chosen }) => chosen),
      topCandidates: read.map(({ candidates }) => ({ candidates })),
    },
  };
}

function probabilityIn({ token, logprob }: Record<string, unknown>): TokenProbability[] {
  if (typeof token !== 'string' || typeof logprob !== 'number') return [];
  return [{ token, logProbability: logprob }];
}

/** The usage of an answer. This API counts the tokens of thoughts apart from the others. */
export function contentUsage(usage: TokenUsage): object {
  const { prompt_tokens, completion_tokens, reasoning_tokens = 0, cached_tokens } = usage;
  const thoughts = Math.min(reasoning_tokens, completion_tokens);
  return {
    promptTokenCount: prompt_tokens,
    candidatesTokenCount: completion_tokens - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached_tokens !== undefined && { cachedContentTokenCount: cached_tokens }),
    totalTokenCount: prompt_tokens + completion_tokens,
  };
}
