import { UpstreamError } from '../../src/core/upstream-error.js';
import type { Upstream } from '../../src/core/model.js';
import type {
  ChatMessage,
  ContentPart,
  ToolCallPart,
} from '../../src/schema-types/chat-completion.js';
import { plainId, signatureOf } from '../../src/lib/tool-id.js';
import type { ReasoningDetail } from '../../src/modalities/chat/codec.js';
import { textOfValue } from './answer.js';
import { ToolMedia } from './tool-media.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';

type Wire = Upstream['provider']['wire'];

/** The messages for one upstream, and the names of fields that it does not accept. */
export interface SentMessages {
  messages: readonly object[];
  ignored: readonly string[];
}

const NOTHING: readonly string[] = [];

/**
 * The messages in the form of one upstream. If all are plain text, they are passed on without a
 * copy. Throws `unsupported` for a file that the upstream does not accept.
 */
export function sentMessages(messages: readonly ChatMessage[], upstream: Upstream): SentMessages {
  const { wire } = upstream.provider;
  const isSent = (message: ChatMessage): boolean => isPlain(message) && mayHaveName(message, wire);
  if (messages.every(isSent)) return { messages, ignored: NOTHING };
  const ignored = new Set<string>();
  const media = new ToolMedia();
  const sent: object[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') sent.push(...media.messages());
    if (isSent(message)) sent.push(message);
    else sent.push(sentMessage(message, index, upstream, { ignored, media }));
  }
  sent.push(...media.messages());
  return { messages: sent, ignored: [...ignored] };
}

function isPlain(message: ChatMessage): boolean {
  return (
    typeof message.content === 'string' &&
    message.tool_calls === undefined &&
    message.tool_call_id === undefined &&
    message.reasoning_content === undefined &&
    message.reasoning_details === undefined &&
    message.cache_control === undefined &&
    message.is_error === undefined
  );
}

/** Whether the upstream takes the message's name, if it has one. */
function mayHaveName({ role, name }: ChatMessage, { message_names: roles }: Wire): boolean {
  return name === undefined || !Array.isArray(roles) || roles.includes(role);
}

function sentMessage(
  message: ChatMessage,
  index: number,
  { provider: { wire }, model }: Upstream,
  { ignored, media }: { ignored: Set<string>; media: ToolMedia },
): object {
  const { role, name, tool_calls, tool_call_id } = message;
  const content =
    message.content === undefined ? undefined : contentOf(message, index, wire, ignored);
  const takesName = mayHaveName(message, wire);
  if (!takesName) ignored.add('messages[].name');
  const sent = {
    role,
    content: role === 'tool' ? media.takeFrom(content, message) : content,
    ...(name !== undefined && takesName && { name }),
    ...(tool_calls && {
      tool_calls: tool_calls.map((call) => ({ ...call, id: plainId(call.id) })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id: plainId(tool_call_id) }),
  };
  // The wire has no such field. The text of the result shows the error.
  if (message.is_error) ignored.add('messages[].is_error');
  if (role !== 'assistant') return sent;
  if (wire.thought_signatures === true) return withSignatures(sent, message, model);
  return { ...sent, ...reasoningBack(message, sent.content, wire.reasoning_back) };
}

function contentOf(
  message: ChatMessage,
  index: number,
  wire: Wire,
  ignored: Set<string>,
): ChatMessage['content'] {
  const { content } = message;
  const isText = wire.text_content === true;
  if (content === null || content === undefined) {
    if (message.cache_control) ignored.add('messages[].cache_control');
    return isText ? '' : null;
  }
  const parts = cached(content, message.cache_control, wire, ignored);
  if (typeof parts === 'string') return parts;
  const taken = parts.map((part, at) => partFor(part, `messages[${index}].content[${at}]`, wire));
  if (!isText || !taken.every((part) => part.type === 'text')) return taken;
  return taken.map((part) => part.text).join('\n');
}

/**
 * Keeps cache marks if the upstream reads them, which it does on parts. A mark on a message is
 * moved to its last part.
 */
function cached(
  content: string | ContentPart[],
  mark: ChatMessage['cache_control'],
  wire: Wire,
  ignored: Set<string>,
): string | ContentPart[] {
  const takes = wire.cache_control === true;
  if (typeof content === 'string') {
    if (!mark) return content;
    if (takes) return [{ type: 'text', text: content, cache_control: mark }];
    ignored.add('messages[].cache_control');
    return content;
  }
  if (takes) {
    return mark
      ? content.map((part, at) => (at === content.length - 1 ? withMark(part, mark) : part))
      : content;
  }
  if (mark) ignored.add('messages[].cache_control');
  if (content.some((part) => 'cache_control' in part)) {
    ignored.add('messages[].content[].cache_control');
  }
  return content.map(withoutMark);
}

function withMark(part: ContentPart, mark: NonNullable<ChatMessage['cache_control']>): ContentPart {
  return part.type === 'input_audio' || part.cache_control
    ? part
    : { ...part, cache_control: mark };
}

function withoutMark(part: ContentPart): ContentPart {
  if (!('cache_control' in part)) return part;
  const { cache_control: _, ...rest } = part;
  return rest;
}

function partFor(part: ContentPart, place: string, wire: Wire): ContentPart {
  if (part.type !== 'file' || wire.files === true) return part;
  throw new UpstreamError('unsupported', `${place}: this upstream takes no files.`, undefined, {
    param: place,
  });
}

const TYPES = ['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'] as const;
const TEXTS = ['text', 'summary', 'data', 'signature', 'id', 'format'] as const;

/** The reasoning details of a message or delta, with the known fields only. */
export function detailsIn(value: unknown): ReasoningDetail[] {
  return recordsIn(value).flatMap((entry) => {
    const type = TYPES.find((one) => one === entry.type);
    if (type === undefined) return [];
    const detail: ReasoningDetail = { type };
    for (const name of TEXTS) {
      const text = entry[name];
      if (typeof text === 'string') detail[name] = text;
    }
    const { index } = entry;
    if (typeof index === 'number') detail.index = index;
    return [detail];
  });
}

/** The text of reasoning details, or their summaries if there is no text. */
export function detailText(details: readonly ReasoningDetail[]): string {
  return details.map(({ text, summary }) => text || summary || '').join('');
}

/**
 * The fields that send the reasoning of an earlier answer back to an upstream, by the flag
 * `reasoning_back`. `content` is the content of the message as it is sent.
 */
export function reasoningBack(
  message: ChatMessage,
  content: ChatMessage['content'],
  field: unknown,
): object {
  if (field === undefined) return {};
  const { reasoning_details: given, tool_calls } = message;
  if (field === 'reasoning_details') return given?.length ? { reasoning_details: given } : {};
  const text = textOfValue(message.reasoning_content) || detailText(detailsIn(given));
  // Where the text is demanded with tool calls, a space stands for one that nobody has.
  if (field === 'tool_reasoning_content') {
    return tool_calls?.length ? { reasoning_content: text || ' ' } : {};
  }
  if (text === '') return {};
  if (field === 'reasoning_content' || field === 'reasoning') return { [field]: text };
  if (field !== 'think_tags' || Array.isArray(content)) return {};
  return { content: `<think>${text}</think>\n\n${content ?? ''}` };
}

/** The text of `reasoningBack`, without state that the model does not read. */
export function reasoningSent(message: ChatMessage, { provider: { wire } }: Upstream): string {
  const fields = Object.entries(reasoningBack(message, null, wire.reasoning_back));
  return fields
    .map(([name, value]) => (name === 'reasoning_details' ? detailText(detailsIn(value)) : value))
    .join('');
}

/** Whose form of a reasoning detail holds a signature of Gemini's. */
const FORMAT = 'google-gemini-v1';
/** The value that Gemini 3 accepts as the signature of a call by another model. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** The thought signature that stands beside a tool call, a message or a delta. */
export function signatureIn(entry: Record<string, unknown>): string | undefined {
  const extra = entry.extra_content;
  if (!isRecord(extra)) return undefined;
  // The same endpoint of Vertex AI uses `vertex`.
  const [google] = recordsIn([extra.google, extra.vertex]);
  const signature = google?.thought_signature;
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/** The signature of an answer's text, in the form in which a client brings it back. */
export function signatureDetail(entry: Record<string, unknown>): ReasoningDetail[] {
  const data = signatureIn(entry);
  return data === undefined ? [] : [{ type: 'reasoning.encrypted', data, format: FORMAT }];
}

/**
 * Moves the signatures in IDs and details to the field that Google's endpoint reads. `sent` is the
 * message as it is sent otherwise.
 */
export function withSignatures(
  sent: { tool_calls?: ToolCallPart[] },
  message: ChatMessage,
  model: string,
): object {
  const details = recordsIn(message.reasoning_details);
  const own = details.find(({ format, data }) => format === FORMAT && typeof data === 'string');
  const signatures = message.tool_calls?.map(({ id }) => signatureOf(id)) ?? [];
  const isForeign = signatures.every((signature) => signature === undefined);
  const calls = sent.tool_calls?.map((call, at) => {
    const placeholder = isForeign && at === 0 && isGemini3(model) ? NO_SIGNATURE : undefined;
    return { ...call, ...extraContent(signatures[at] ?? placeholder) };
  });
  return {
    ...sent,
    ...(calls ? { tool_calls: calls } : extraContent(own?.data)),
  };
}

function extraContent(thought_signature: unknown): object {
  return thought_signature === undefined
    ? {}
    : { extra_content: { google: { thought_signature } } };
}

/** Gemini 3 and later refuse a call in the history that has no signature; older ones have none. */
function isGemini3(model: string): boolean {
  return /\bgemini-(?:[3-9]|\d\d)/u.test(model);
}
