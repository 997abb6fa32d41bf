import { fieldError, GatewayError } from '../../../core/errors.js';
import type {
  ChatMessage,
  ContentPart,
  ToolCallPart,
  CacheControl,
  FilePart,
} from '../../../schema-types/chat-completion.js';
import { refuseDeep } from '../../../pipeline/nesting.js';
import { noteUnknownFields } from '../../../http/ignored-header.js';
import type { Capability } from '../../../core/model.js';
import { plainId } from '../../../lib/tool-id.js';
import { tidyBase64, tidyDataUrl, tidyPictureUrl } from '../../../lib/tidy-media.js';
import { RESULT_FOLLOWS, resultHeading } from '../../../lib/tool-media.js';
import type { PromptSize } from '../call.js';
import { secondsOfWav, sniffAudio, WAV_HEAD_BYTES } from '../../../lib/audio-length.js';
import { headOf } from '../../../lib/data-url.js';
import type { SourceTexts } from '../../../lib/source-texts.js';
import type { MediaFile } from '../../../lib/media-reader.js';
import { readFileSize } from '../file-size.js';
import { checkFileUrl, checkImageUrl, isHttp } from '../../../upstream/client-url.js';

const PLAIN_KEYS = ['role', 'content', 'name', 'cache_control'];
const CALL_KEYS = new Set(['id', 'type', 'function']);
const CALLED_KEYS = new Set(['name', 'arguments']);
const TOOL_KEYS = ['tool_calls', 'tool_call_id', 'is_error'];
/** Further keys of an assistant's message. */
const STATE_KEYS = ['reasoning_content', 'reasoning_details'];
/**
 * The known keys of a message, by whether its model takes tools and whether it is the assistant's.
 */
const KEYS = {
  plain: new Set(PLAIN_KEYS),
  plain_assistant: new Set([...PLAIN_KEYS, ...STATE_KEYS]),
  tools: new Set([...PLAIN_KEYS, ...TOOL_KEYS]),
  tools_assistant: new Set([...PLAIN_KEYS, ...TOOL_KEYS, ...STATE_KEYS]),
};
/** The most parts of an answer's reasoning; the longest known answers have far fewer. */
const MAX_DETAILS = 1_000;
/** The longest name of a tool that is called. No known API takes a longer one. */
const NAME_CHARACTERS = 256;

/**
 * Reads a message that has more than a role and a text, and adds to the size of the prompt. Returns
 * the message that is sent on. Throws `GatewayError` naming the message or part at fault.
 */
export function readMessage(message: ChatMessage, at: string, reader: MessageReader): ChatMessage {
  gateMessage(message, at, reader);
  const { role, content } = message;
  const read: ChatMessage = {
    role: role === 'developer' ? 'system' : role,
    content: typeof content === 'string' ? content : readParts(content, at, reader),
  };
  const { size, capabilities, ignored } = reader;
  const tools = capabilities.has('tools');
  const kind = role === 'assistant' ? '_assistant' : '';
  noteUnknownFields(message, KEYS[`${tools ? 'tools' : 'plain'}${kind}`], 'messages[]', ignored);
  if (message.name !== undefined) read.name = measured(message.name, size);
  if (tools && message.tool_calls) {
    read.tool_calls = message.tool_calls.map((call, index) => {
      refuseLongName(call, `${at}.tool_calls[${index}]`);
      return cleanCall(call, ignored);
    });
    size.text_bytes += Buffer.byteLength(JSON.stringify(read.tool_calls));
    measureNames(read.tool_calls, reader);
  }
  if (tools && message.tool_call_id !== undefined) {
    read.tool_call_id = measured(message.tool_call_id, size);
    // Some upstreams are told the name of the call with its result.
    size.text_bytes += reader.called.get(plainId(message.tool_call_id)) ?? 0;
  }
  if (tools && message.is_error) read.is_error = true;
  if (role === 'tool') measureMedia(read, size);
  if (message.cache_control) Object.assign(read, cacheControlField(message.cache_control));
  if (role === 'assistant') readReasoning(message, read, at, size);
  return read;
}

/**
 * Measures the texts and the message that an upstream gets in addition for a tool result with
 * images or files, if it takes only text in a result.
 */
function measureMedia({ content, tool_call_id = '' }: ChatMessage, size: PromptSize): void {
  if (!Array.isArray(content) || content.every(({ type }) => type === 'text')) return;
  size.messages += 1;
  size.text_bytes += Buffer.byteLength(resultHeading(tool_call_id) + RESULT_FOLLOWS);
}

/** Reads the reasoning of an earlier turn, which its upstream may demand back. */
function readReasoning(
  { reasoning_content, reasoning_details }: ChatMessage,
  read: ChatMessage,
  at: string,
  size: PromptSize,
): void {
  if (reasoning_content) read.reasoning_content = measured(reasoning_content, size);
  if (!reasoning_details?.length) return;
  const param = `${at}.reasoning_details`;
  if (reasoning_details.length > MAX_DETAILS) {
    const message = `${param} must have at most ${MAX_DETAILS} entries.`;
    throw new GatewayError('invalid_request', message, { param });
  }
  refuseDeep(param, reasoning_details);
  read.reasoning_details = reasoning_details;
  size.text_bytes += Buffer.byteLength(JSON.stringify(reasoning_details));
}

function gateMessage(message: ChatMessage, at: string, { capabilities }: MessageReader): void {
  if (capabilities.has('tools')) return;
  if (message.role === 'tool') {
    throw new GatewayError(
      'unsupported_capability',
      `${at}.role must be system, user or assistant: this model does not take tools.`,
      { param: `${at}.role` },
    );
  }
  // A turn of nothing but calls.
  if (message.content === null || message.content === undefined) {
    const param = `${at}.tool_calls`;
    const complaint = `${param}: this model does not take tools.`;
    throw new GatewayError('unsupported_capability', complaint, { param });
  }
}

function measured(text: string, size: PromptSize): string {
  size.text_bytes += Buffer.byteLength(text);
  return text;
}

function readParts(
  parts: readonly ContentPart[] | null | undefined,
  at: string,
  reader: MessageReader,
): ContentPart[] | null {
  if (!parts) return null;
  return parts.map((part, index) => readPart(part, `${at}.content[${index}]`, reader));
}

/** Refuses a name that no upstream takes: it is repeated with each result of its call. */
function refuseLongName({ function: { name } }: ToolCallPart, at: string): void {
  if (name.length <= NAME_CHARACTERS) return;
  throw fieldError(`${at}.function.name`, `must have at most ${NAME_CHARACTERS} characters`);
}

/** Measures the names once more, as some upstreams are told of the tools of earlier calls. */
function measureNames(calls: readonly ToolCallPart[], { called, size }: MessageReader): void {
  for (const { id, function: asked } of calls) {
    const bytes = Buffer.byteLength(asked.name);
    const plain = plainId(id);
    size.text_bytes += bytes;
    called.set(plain, Math.max(bytes, called.get(plain) ?? 0));
  }
}

function cleanCall(call: ToolCallPart, ignored: Set<string>): ToolCallPart {
  const { id, type, function: asked } = call;
  noteUnknownFields(call, CALL_KEYS, 'messages[].tool_calls[]', ignored);
  noteUnknownFields(asked, CALLED_KEYS, 'messages[].tool_calls[].function', ignored);
  return { id, type, function: { name: asked.name, arguments: asked.arguments } };
}

/** The state of reading the messages of one request. */
export interface MessageReader {
  capabilities: ReadonlySet<Capability>;
  ignored: Set<string>;
  size: PromptSize;
  /** The bytes of the names of earlier calls, by ID. */
  called: Map<string, number>;
  /** Takes the media whose pages and seconds are read later. */
  media: MediaFile[];
  /** The long texts of the body as they came. */
  texts: SourceTexts | undefined;
}

/** Adds a text to the size of the prompt. */
export function measureText(text: string, { size, texts }: MessageReader): void {
  size.text_bytes += texts?.bytesOf(text) ?? Buffer.byteLength(text);
}

const PART_KEYS = new Set(['type', 'text', 'image_url', 'input_audio', 'file', 'cache_control']);
const IMAGE_KEYS = new Set(['url', 'detail']);
const AUDIO_KEYS = new Set(['data', 'format']);
const FILE_KEYS = new Set(['filename', 'file_data', 'file_id']);

/**
 * Reads a part without unknown fields, and adds to the size of the prompt. Throws `GatewayError`
 * naming the part if the model does not accept it.
 */
function readPart(part: ContentPart, place: string, reader: MessageReader): ContentPart {
  const { size, ignored } = reader;
  noteUnknownFields(part, PART_KEYS, 'messages[].content[]', ignored);
  switch (part.type) {
    case 'text':
      measureText(part.text, reader);
      return { type: 'text', text: part.text, ...cacheControlField(part.cache_control) };
    case 'image_url': {
      gatePart(reader, 'vision', place, 'images');
      const { detail } = part.image_url;
      const url = tidyPictureUrl(part.image_url.url);
      checkImageUrl(url, `${place}.image_url.url`);
      size.images += 1;
      if (isHttp(url)) size.urls += 1;
      noteUnknownFields(part.image_url, IMAGE_KEYS, 'messages[].content[].image_url', ignored);
      const image_url = detail === undefined ? { url } : { url, detail };
      return { type: 'image_url', image_url, ...cacheControlField(part.cache_control) };
    }
    case 'input_audio': {
      gatePart(reader, 'audio', place, 'audio');
      const { format } = part.input_audio;
      const data = tidyBase64(part.input_audio.data);
      size.audio_bytes += data.length;
      measureSound(data, reader);
      noteUnknownFields(part.input_audio, AUDIO_KEYS, 'messages[].content[].input_audio', ignored);
      return { type: 'input_audio', input_audio: { data, format } };
    }
    case 'file':
      gatePart(reader, 'file', place, 'files');
      return readFile(part, place, reader);
  }
}

/** A cache mark for the upstream, without unknown fields. */
export function cacheControlField(mark: CacheControl | undefined): {
  cache_control?: CacheControl;
} {
  if (!mark) return {};
  const { type, ttl } = mark;
  return { cache_control: ttl === undefined ? { type } : { type, ttl } };
}

function gatePart(
  { capabilities }: MessageReader,
  needed: Capability,
  param: string,
  what: string,
): void {
  if (capabilities.has(needed)) return;
  throw new GatewayError('unsupported_capability', `${param}: this model does not take ${what}.`, {
    param,
  });
}

function readFile(
  { file, cache_control }: FilePart,
  place: string,
  reader: MessageReader,
): FilePart {
  const { filename, file_id } = file;
  const file_data = file.file_data === undefined ? undefined : tidyDataUrl(file.file_data);
  if ((file_data === undefined) === (file_id === undefined)) {
    const param = `${place}.file`;
    const message = `${param} must have either file_data or file_id.`;
    throw new GatewayError('invalid_request', message, { param });
  }
  if (file_data !== undefined) checkFileUrl(file_data, `${place}.file.file_data`);
  const size = readFileSize(file_data);
  if ('pages' in size) reader.size.pages += size.pages;
  else if ('pdf' in size) reader.media.push({ kind: 'pdf', data: size.pdf });
  else {
    reader.size.text_bytes += Buffer.byteLength(size.text, 'base64');
    measureSound(size.text, reader);
  }
  if (isHttp(file_data)) reader.size.urls += 1;
  noteUnknownFields(file, FILE_KEYS, 'messages[].content[].file', reader.ignored);
  const read: FilePart['file'] = {};
  if (filename !== undefined) {
    read.filename = filename;
    reader.size.text_bytes += Buffer.byteLength(filename);
  }
  if (file_data !== undefined) read.file_data = file_data;
  if (file_id !== undefined) read.file_id = file_id;
  return { type: 'file', file: read, ...cacheControlField(cache_control) };
}

/** Measures sound by the header of a WAV file; the length of any other is read later. */
function measureSound(base64: string, { size, media }: MessageReader): void {
  if (!sniffAudio(headOf(base64))) return;
  const head = headOf(base64, WAV_HEAD_BYTES);
  const seconds = secondsOfWav(head, Buffer.byteLength(base64, 'base64'));
  if (seconds === undefined) media.push({ kind: 'sound', data: base64 });
  else size.audio_seconds += seconds;
}
