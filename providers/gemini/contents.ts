import type { ReasoningDetail } from '../../src/modalities/chat/codec.js';
import type { ChatMessage } from '../../src/schema-types/chat-completion.js';
import { JsonTexts } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import type { GeminiObject } from '../gemini-wire.js';
import { argumentsObject } from '../../src/lib/tool-arguments.js';
import { plainId, signatureOf } from '../../src/lib/tool-id.js';
import { isGemini3 } from './model-family.js';
import { partsOfContent, unsupported, type PartPlace } from './parts.js';

/** Whose form a signature has that travels as a `reasoning.encrypted` detail. */
export const DETAIL_FORMAT = 'google-gemini-v1';

/**
 * Stands in for the signature of a function call that another upstream made. Gemini 3 refuses a
 * call without any.
 */
const SKIP_SIGNATURE = 'skip_thought_signature_validator';

/** A conversation has to begin with the user: a call must follow a turn of theirs. */
const BEGINNING: Content = { role: 'user', parts: [{ text: 'Begin.' }] };

interface Content {
  role: 'user' | 'model';
  parts: GeminiObject[];
}

/** A function call of the conversation: its results go by its name, and in the order of calls. */
interface KnownCall {
  name: string;
  order: number;
}

interface ConversationState {
  model: string;
  contents: Content[];
  calls: Map<string, KnownCall>;
  /** How many calls there were. */
  count: number;
  ignored: Set<string>;
  texts: JsonTexts;
}

/**
 * The messages of a call as turns of `user` and `model`. Throws `UpstreamError` for a message that
 * this wire does not have.
 */
export function conversationOf(
  messages: readonly ChatMessage[],
  model: string,
  ignored: Set<string>,
): GeminiObject {
  const texts = new JsonTexts();
  const state: ConversationState = {
    model,
    contents: [],
    calls: new Map(),
    count: 0,
    ignored,
    texts,
  };
  const system: GeminiObject[] = [];
  let results: { order: number; parts: GeminiObject[] }[] = [];
  messages.forEach((message, i) => {
    noteIgnored(message, ignored);
    const place = { at: `messages[${i}]`, ignored };
    if (message.role === 'tool') return void results.push(resultOf(message, place, state));
    addResults(results, state.contents);
    results = [];
    if (message.role === 'user')
      add('user', partsOfContent(message.content, place), state.contents);
    else if (message.role === 'assistant')
      add('model', turnOf(message, place, state), state.contents);
    else system.push(...systemParts(message, place));
  });
  addResults(results, state.contents);
  if (state.contents.length > 0) {
    const [first] = state.contents;
    const contents = first?.role === 'user' ? state.contents : [BEGINNING, ...state.contents];
    return system.length > 0 ? { contents, systemInstruction: { parts: system } } : { contents };
  }
  // A prompt that is instructions alone: the upstream wants a turn to answer.
  if (system.length > 0) return { contents: [{ role: 'user', parts: system }] };
  throw unsupported('messages must say something: this model takes no empty prompt.', 'messages');
}

function noteIgnored(message: ChatMessage, ignored: Set<string>): void {
  if (message.cache_control) ignored.add('messages[].cache_control');
  if (message.name !== undefined && message.role !== 'tool') ignored.add('messages[].name');
}

/** Merges consecutive turns of one role, as turns must alternate. */
function add(role: Content['role'], parts: readonly GeminiObject[], contents: Content[]): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  if (last?.role === role) last.parts.push(...parts);
  else contents.push({ role, parts: [...parts] });
}

function addResults(
  results: { order: number; parts: GeminiObject[] }[],
  contents: Content[],
): void {
  results.sort((a, b) => a.order - b.order);
  // Images and files of results follow after all results.
  add(
    'user',
    results.flatMap(({ parts }) => parts.slice(0, 1)),
    contents,
  );
  add(
    'user',
    results.flatMap(({ parts }) => parts.slice(1)),
    contents,
  );
}

function systemParts({ content }: ChatMessage, place: PartPlace): GeminiObject[] {
  const parts = partsOfContent(content, place);
  if (parts.every((part) => 'text' in part)) return parts;
  const param = `${place.at}.content`;
  throw unsupported(`${param}: instructions to this model are text alone.`, param);
}

function turnOf(message: ChatMessage, place: PartPlace, state: ConversationState): GeminiObject[] {
  const parts = partsOfContent(message.content, place);
  const signature = textSignature(message);
  const last = parts.findLast((part) => 'text' in part);
  if (last && signature !== undefined) last.thoughtSignature = signature;
  return [...parts, ...callsOf(message, state)];
}

/** The signature that came with the text of an answer. */
function textSignature({ reasoning_details }: ChatMessage): string | undefined {
  return detailsIn(reasoning_details).findLast(({ id }) => id === undefined)?.data;
}

function detailsIn(details: ChatMessage['reasoning_details']): Partial<ReasoningDetail>[] {
  return (details ?? []).filter(
    (detail: Partial<ReasoningDetail>) =>
      detail.format === DETAIL_FORMAT && typeof detail.data === 'string',
  );
}

function callsOf(message: ChatMessage, state: ConversationState): GeminiObject[] {
  const details = detailsIn(message.reasoning_details);
  const parts = (message.tool_calls ?? []).map((call): GeminiObject => {
    const id = plainId(call.id);
    const { name } = call.function;
    state.calls.set(id, { name, order: state.count });
    state.count += 1;
    const args = argumentsObject(call.function.arguments, state.texts);
    // Some clients name the call that a signature belongs to in its detail instead.
    const thoughtSignature = signatureOf(call.id) ?? details.find((one) => one.id === id)?.data;
    return {
      functionCall: { ...(id !== '' && { id }), name, args },
      ...(thoughtSignature !== undefined && { thoughtSignature }),
    };
  });
  // Of calls made at once the first alone is signed.
  const [first] = parts;
  const isSigned = parts.some((part) => 'thoughtSignature' in part);
  if (first && !isSigned && isGemini3(state.model)) first.thoughtSignature = SKIP_SIGNATURE;
  return parts;
}

/** The result of a call, followed by its images and files. */
function resultOf(
  message: ChatMessage,
  place: PartPlace,
  { calls, count, model, texts }: ConversationState,
): { order: number; parts: GeminiObject[] } {
  const id = plainId(message.tool_call_id ?? '');
  const known = calls.get(id);
  const name = known?.name ?? message.name;
  if (name === undefined) {
    const param = `${place.at}.tool_call_id`;
    throw unsupported(`${param} must be the id of a tool call before it.`, param);
  }
  const parts = partsOfContent(message.content, place);
  const shown = parts.filter((part) => !('text' in part));
  const text = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
  const functionResponse: GeminiObject = {
    ...(id !== '' && { id }),
    name,
    response: objectOf(text, texts),
  };
  const order = known?.order ?? count;
  if (!isGemini3(model)) return { order, parts: [{ functionResponse }, ...shown] };
  if (shown.length > 0) functionResponse.parts = shown;
  return { order, parts: [{ functionResponse }] };
}

/** A result is an object on this wire. Another text becomes the `output` of one. */
function objectOf(text: string, texts: JsonTexts): GeminiObject {
  const parsed = texts.parse(text);
  return isRecord(parsed) ? parsed : { output: text };
}
