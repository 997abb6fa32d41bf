import type {
  ChatCall,
  ChatChoice,
  ChatDelta,
  ChatReply,
  ReasoningDetail,
  ToolCallFragment,
} from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { isRecord } from '../../src/lib/objects.js';
import { answerIn, broken, listIn, objectIn, textIn, type GeminiObject } from '../gemini-wire.js';
import { isIndex } from '../openai/answer.js';
import { closeCall, newCalls, readCall, type Calls } from './calls.js';
import { DETAIL_FORMAT } from './contents.js';
import { groundingCalls, newGrounding, noteGrounding, type Grounding } from './grounding.js';
import { logprobsIn } from './logprobs.js';
import { countersWith, geminiUsage, type Counters } from './usage.js';

/** The state of one choice. */
interface OpenChoice {
  calls: Calls;
  details: number;
  /** The last finish reason. Older models send STOP with every event. */
  finish: string | undefined;
  hasSpoken: boolean;
  /** Whether there was more than thoughts. */
  hasAnswered: boolean;
}

type Choices = Map<number, OpenChoice>;

/** The state of one answer. */
export interface Answer {
  /** By their index. */
  choices: Choices;
  counters: Counters | undefined;
  grounding: Grounding;
}

export function newAnswer(): Answer {
  return { choices: new Map(), counters: undefined, grounding: newGrounding() };
}

/** The contract's words for the ends that mean something of their own. */
const FINISH: ReadonlyMap<string, string> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ...[
    'SAFETY',
    'RECITATION',
    'LANGUAGE',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'MODEL_ARMOR',
    'IMAGE_SAFETY',
    'IMAGE_PROHIBITED_CONTENT',
    'IMAGE_RECITATION',
  ].map((word) => [word, 'content_filter'] as const),
]);

/** The ends of an answer whose call the upstream could not read. */
const SPOILT = /^(?:MALFORMED_|UNEXPECTED_TOOL_|TOO_MANY_TOOL_)/u;

/**
 * The deltas of one body or event for the `n` choices asked for, the last of them the usage so far.
 * Throws `UpstreamError` for an error, and for a prompt that was refused, which has no candidates.
 */
export function readEvent(
  body: unknown,
  answer: Answer,
  { provider, model }: Upstream,
  n: number,
): ChatDelta[] {
  const { choices, grounding } = answer;
  const event = answerIn(body, provider);
  const candidates = listIn(event, 'candidates');
  const feedback = objectIn(event, 'promptFeedback');
  const blocked = textIn(feedback, 'blockReason');
  if (blocked !== undefined && candidates.length === 0 && choices.size === 0) {
    const reason = textIn(feedback, 'blockReasonMessage');
    const words = `The upstream refused the prompt (${blocked}).`;
    throw new UpstreamError('policy', reason === undefined ? words : `${words} ${reason}`);
  }
  const deltas = candidates.flatMap((candidate, at) => {
    const index = isIndex(candidate.index) ? candidate.index : at;
    return index < n ? [readCandidate(candidate, index, choices)] : [];
  });
  for (const candidate of candidates) noteGrounding(candidate, grounding);
  answer.counters = countersWith(answer.counters, event);
  const usage = geminiUsage(answer.counters, groundingCalls(grounding, model));
  return usage ? [...deltas, { usage }] : deltas;
}

function readCandidate(candidate: GeminiObject, index: number, choices: Choices): ChatDelta {
  const choice = choices.get(index) ?? {
    calls: newCalls(),
    details: 0,
    finish: undefined,
    hasSpoken: false,
    hasAnswered: false,
  };
  choices.set(index, choice);
  choice.finish = textIn(candidate, 'finishReason') ?? choice.finish;
  const delta: ChatDelta = { index };
  for (const part of listIn(objectIn(candidate, 'content'), 'parts')) readPart(part, choice, delta);
  const logprobs = logprobsIn(candidate);
  if (logprobs) delta.logprobs = logprobs;
  return delta;
}

/** Adds a part to the delta. Parts of the upstream's own tools are neither text nor calls. */
function readPart(part: GeminiObject, choice: OpenChoice, delta: ChatDelta): void {
  const { text, thought, functionCall, thoughtSignature: signature } = part;
  if (typeof text === 'string') {
    if (text !== '') choice.hasSpoken = true;
    if (text !== '' && thought !== true) choice.hasAnswered = true;
    if (text !== '' && thought === true)
      delta.reasoning_content = (delta.reasoning_content ?? '') + text;
    else if (text !== '') delta.content = (delta.content ?? '') + text;
    if (typeof signature === 'string') {
      (delta.reasoning_details ??= []).push(detailOf(signature, choice));
    }
  } else if (isRecord(functionCall)) {
    const completed = readCall(functionCall, signature, choice.calls);
    if (completed.length > 0) (delta.tool_calls ??= []).push(...completed);
    if (choice.calls.count > 0) choice.hasSpoken = choice.hasAnswered = true;
  } else if (Object.keys(part).some((name) => name !== 'thoughtSignature')) {
    choice.hasSpoken = choice.hasAnswered = true;
  }
}

function detailOf(data: string, choice: OpenChoice): ReasoningDetail {
  choice.details += 1;
  const index = choice.details - 1;
  return { type: 'reasoning.encrypted', data, format: DETAIL_FORMAT, index };
}

/** The calls that are still open when the bytes have ended. */
export function lastCalls(choices: Choices): ChatDelta[] {
  return [...choices].flatMap(([index, { calls }]) => {
    const tool_calls = closeCall(calls);
    return tool_calls.length > 0 ? [{ index, tool_calls }] : [];
  });
}

/**
 * The finish reason of each choice. Throws if one failed before any output, or if `mustEnd` is set
 * and one was cut off.
 */
export function endings(choices: Choices, mustEnd: boolean): Map<number, string | null> {
  if (choices.size === 0) throw broken('The upstream gave no answer.');
  return new Map(
    [...choices].map(([index, { finish, hasSpoken, hasAnswered }]) => {
      if (finish === undefined && mustEnd) throw broken("The upstream's stream broke off.");
      const word = FINISH.get(finish ?? '');
      const isSpoilt = !hasAnswered && SPOILT.test(finish ?? '');
      if (word === undefined && (!hasSpoken || isSpoilt)) {
        const shown = /^[A-Z_]{1,64}$/u.test(finish ?? '') ? ` (${finish})` : '';
        throw broken(`The upstream ended with no answer${shown}.`);
      }
      return [index, finish === undefined ? null : (word ?? 'stop')];
    }),
  );
}

/** A whole answer, which some paths give as the list of a stream's events. */
export function decode(body: unknown, { n }: ChatCall, upstream: Upstream): ChatReply {
  const answer = newAnswer();
  const { choices } = answer;
  const events: unknown[] = Array.isArray(body) && body.length > 0 ? body : [body];
  const deltas = events.flatMap((event) => readEvent(event, answer, upstream, n));
  deltas.push(...lastCalls(choices));
  const ends = endings(choices, false);
  const usage = geminiUsage(answer.counters, groundingCalls(answer.grounding, upstream.model));
  const read = [...ends].map(([index, finish_reason]) => {
    return {
      ...joinedDeltas(deltas.filter((delta) => delta.index === index)),
      index,
      finish_reason,
    };
  });
  return { choices: read.sort((a, b) => a.index - b.index), usage };
}

function joinedDeltas(deltas: readonly ChatDelta[]): Omit<ChatChoice, 'index' | 'finish_reason'> {
  const content = deltas.map((delta) => delta.content ?? '').join('');
  const reasoning_content = deltas.map((delta) => delta.reasoning_content ?? '').join('');
  const reasoning_details = deltas.flatMap((delta) => delta.reasoning_details ?? []);
  const tool_calls = deltas.flatMap((delta) => delta.tool_calls ?? []).map(wholeCall);
  const logprobs = deltas.findLast((delta) => delta.logprobs !== undefined)?.logprobs;
  return {
    content: content === '' && tool_calls.length > 0 ? null : content,
    ...(reasoning_content !== '' && { reasoning_content }),
    ...(reasoning_details.length > 0 && { reasoning_details }),
    ...(tool_calls.length > 0 && { tool_calls }),
    ...(logprobs !== undefined && { logprobs }),
  };
}

function wholeCall({
  id = '',
  function: called,
}: ToolCallFragment): NonNullable<ChatChoice['tool_calls']>[number] {
  const { name = '', arguments: args = '{}' } = called;
  return { id, type: 'function', function: { name, arguments: args } };
}
