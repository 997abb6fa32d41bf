import type {
  ChatMessage,
  ContentPart,
  ToolCallPart,
} from '../../../schema-types/chat-completion.js';
import type {
  GeminiContent,
  GeminiMedia,
  GeminiPart,
} from '../../../schema-types/generate-content.js';
import { fieldError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { JsonTexts } from '../../../lib/json-text.js';
import { signedId } from '../../../lib/tool-id.js';
import type { ClientNames } from '../client-names.js';
import type { ReasoningDetail } from '../codec.js';
import { hasReasoning, spokenTurns } from './empty-turns.js';
import { GEMINI_FORMAT, stateIn } from './generate-content-state.js';
import { hiddenKind, hiddenText } from './hidden-media.js';
import { refuseDeep } from '../../../pipeline/nesting.js';

/** The signature that clients send for a call of another model, which has none. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** The kinds of parts that instructions cannot have. */
const NOT_TEXTS = ['inlineData', 'fileData', 'functionCall', 'functionResponse'] as const;

/** The state of reading the turns of a request: the model, and what is left out of them. */
export interface ContentReading {
  capabilities: Model['capabilities'];
  names: ClientNames;
  ignored: Set<string>;
}

/** The turns of a request as messages. Throws `GatewayError` if they are empty. */
export function messagesOf(
  contents: readonly GeminiContent[],
  system: GeminiContent | null | undefined,
  reading: ContentReading,
): ChatMessage[] {
  const { names, ignored } = reading;
  const reader = new ContentReader(reading);
  const turns = joinedTurns(contents).flatMap((turn) => reader.read(turn));
  if (turns.length === 0) throw fieldError('contents', 'must not be empty');
  const { messages, left_out } = spokenTurns(turns, names, 'contents');
  if (left_out.some(hasReasoning)) ignored.add('contents[].parts[].thought');
  const named = instructions(system).map((one) => names.place(one, 'systemInstruction'));
  return [...named, ...messages];
}

function instructions(system: GeminiContent | null | undefined): ChatMessage[] {
  const parts = system?.parts ?? [];
  const at = parts.findIndex((part) => NOT_TEXTS.some((name) => part[name] !== undefined));
  if (at >= 0) throw fieldError(`systemInstruction.parts[${at}]`, 'must be a text');
  const content = textIn(parts, '\n');
  return content === '' ? [] : [{ role: 'system', content }];
}

/** A turn, and the field of the client's body from which it comes. */
interface Turn {
  role: GeminiContent['role'];
  parts: GeminiPart[];
  place: string;
}

/** Joins neighbouring turns of the model: a client may send a streamed turn back in pieces. */
function joinedTurns(contents: readonly GeminiContent[]): Turn[] {
  const turns: Turn[] = [];
  for (const [at, { role, parts = [] }] of contents.entries()) {
    const last = turns.at(-1);
    if (role === 'model' && last?.role === 'model') last.parts.push(...parts);
    else turns.push({ role, parts: [...parts], place: `contents[${at}]` });
  }
  return turns;
}

/**
 * Reads contents in order. A result without an ID belongs to the first unanswered call of its name.
 */
class ContentReader {
  #made = 0;
  readonly #texts = new JsonTexts();
  readonly #waiting: { id: string; plain: string; name: string }[] = [];

  constructor(private readonly reading: ContentReading) {}

  read({ role, parts, place }: Turn): ChatMessage[] {
    const messages = role === 'model' ? this.#assistant(parts) : this.#user(parts, place);
    for (const message of messages) this.reading.names.place(message, place);
    return messages;
  }

  #assistant(parts: readonly GeminiPart[]): ChatMessage[] {
    const calls = parts.flatMap((part) => this.#callOf(part));
    const content = textIn(parts.filter(isVisible), '');
    const thoughts = textIn(
      parts.filter(({ thought }) => thought),
      '',
    );
    const details = parts.flatMap((part) => detailOf(part, this.#texts));
    return [
      {
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(thoughts !== '' && { reasoning_content: thoughts }),
        ...(details.length > 0 && { reasoning_details: details }),
      },
    ];
  }

  #callOf({ functionCall, thoughtSignature }: GeminiPart): ToolCallPart[] {
    if (!functionCall) return [];
    const { name, args = {} } = functionCall;
    refuseDeep('contents[].parts[].functionCall.args', args);
    this.#made += 1;
    const plain = functionCall.id || `call_${this.#made}`;
    const signature =
      thoughtSignature === NO_SIGNATURE ? '' : toStandardBase64(thoughtSignature ?? '');
    const isOwn = signature !== '' && stateIn(signature, this.#texts).length === 0;
    const id = isOwn ? signedId(plain, signature) : plain;
    this.#waiting.push({ id, plain, name });
    return [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }];
  }

  #user(parts: readonly GeminiPart[], place: string): ChatMessage[] {
    const results = parts.flatMap((part, at): ChatMessage[] => {
      if (!part.functionResponse) return [];
      const { id, name, response = {}, parts: media = [] } = part.functionResponse;
      refuseDeep('contents[].parts[].functionResponse.response', response);
      const text = JSON.stringify(response);
      const shown = media.flatMap(mediaOf).map((one) => this.#readable(one));
      for (const one of shown) {
        this.reading.names.place(one, `${place}.parts[${at}].functionResponse`);
      }
      const content = shown.length === 0 ? text : [{ type: 'text' as const, text }, ...shown];
      return [{ role: 'tool', tool_call_id: this.#answered(id, name), content }];
    });
    const visible = parts.flatMap((part, at) =>
      isVisible(part)
        ? partOf(part).map((one) => this.reading.names.place(one, `${place}.parts[${at}]`))
        : [],
    );
    if (visible.length === 0) return results;
    const isText = visible.every(({ type }) => type === 'text');
    const content = isText ? textIn(parts.filter(isVisible), '\n') : visible;
    return [...results, { role: 'user', content }];
  }

  /** Replaces a part of a result that the model cannot read by a text that says so. */
  #readable(part: ContentPart): ContentPart {
    const { capabilities, ignored } = this.reading;
    const hidden = hiddenKind(part, capabilities);
    if (hidden === undefined) return part;
    ignored.add('contents[].parts[].functionResponse.parts');
    return hiddenText(hidden);
  }

  #answered(id: string | undefined, name: string): string {
    const at = this.#waiting.findIndex((one) => (id ? one.plain === id : one.name === name));
    const [call] = at < 0 ? [] : this.#waiting.splice(at, 1);
    return call?.id ?? (id || name);
  }
}

function isVisible({ thought }: GeminiPart): boolean {
  return thought !== true;
}

function detailOf(
  { thoughtSignature, functionCall }: GeminiPart,
  texts: JsonTexts,
): ReasoningDetail[] {
  if (!thoughtSignature) return [];
  const data = toStandardBase64(thoughtSignature);
  const state = stateIn(data, texts);
  if (state.length > 0 || functionCall) return state;
  return [{ type: 'reasoning.encrypted', data, format: GEMINI_FORMAT }];
}

function partOf(part: GeminiPart): ContentPart[] {
  const text = textOfPart(part);
  return text === '' ? mediaOf(part) : [{ type: 'text', text }];
}

/** An image, a sound or a file. */
function mediaOf({ inlineData, fileData }: GeminiMedia): ContentPart[] {
  if (inlineData) {
    const { mimeType, displayName } = inlineData;
    const data = toStandardBase64(inlineData.data);
    if (mimeType.startsWith('audio/')) {
      return [{ type: 'input_audio', input_audio: { data, format: audioFormat(mimeType) } }];
    }
    return [imageOrFile(`data:${mimeType};base64,${data}`, mimeType, displayName)];
  }
  if (!fileData) return [];
  const { fileUri, mimeType = '', displayName } = fileData;
  return [imageOrFile(fileUri, mimeType, displayName)];
}

function imageOrFile(url: string, type: string, filename: string | undefined): ContentPart {
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { file_data: url, ...(filename && { filename }) } };
}

/** `audio/x-wav`, `audio/mpeg` and so on as chat completions name them. */
function audioFormat(type: string): string {
  const name = type.slice('audio/'.length).split(';', 1)[0]?.replace(/^x-/u, '').toLowerCase();
  return name === 'mpeg' ? 'mp3' : name || 'mp3';
}

/** Google's Python clients send base64url. */
function toStandardBase64(base64: string): string {
  return base64.replaceAll('-', '+').replaceAll('_', '/');
}

function textIn(parts: readonly GeminiPart[], between: string): string {
  return parts.flatMap((part) => textOfPart(part) || []).join(between);
}

/** The text of a part. Code that an upstream ran, and its output, become text. */
function textOfPart({
  text,
  executableCode: run,
  codeExecutionResult: result,
}: GeminiPart): string {
  if (run) return fenced(run.language ?? '', run.code ?? '');
  if (result) return fenced(result.outcome ?? '', result.output ?? '');
  return text ?? '';
}

function fenced(head: string, body: string): string {
  return `\`\`\`${head.toLowerCase()}\n${body}\n\`\`\``;
}
