import type { ChatMessage, ContentPart } from '../../src/schema-types/chat-completion.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { headOf, isDataUrl } from '../../src/lib/data-url.js';
import { sniffImageType } from '../../src/lib/image-type.js';
import type { GeminiObject } from '../gemini-wire.js';

/** The place of a part in the client's request, and the names of the fields left out of it. */
export interface PartPlace {
  at: string;
  ignored: Set<string>;
}

const SOUNDS: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
  ['aac', 'audio/aac'],
  ['aiff', 'audio/aiff'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
]);

/** The error of a field that this wire does not have, and that would change the answer. */
export function unsupported(message: string, param: string): UpstreamError {
  return new UpstreamError('unsupported', message, undefined, { param });
}

/** The content of a message as parts. An empty text is none: upstreams refuse it. */
export function partsOfContent(content: ChatMessage['content'], place: PartPlace): GeminiObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return (content ?? []).flatMap((part, i) => {
    return partOf(part, { ...place, at: `${place.at}.content[${i}]` });
  });
}

function partOf(part: ContentPart, place: PartPlace): GeminiObject[] {
  if ('cache_control' in part) place.ignored.add('messages[].content[].cache_control');
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'image_url':
      return [imageOf(part.image_url, place)];
    case 'input_audio': {
      const { data, format } = part.input_audio;
      const mimeType = SOUNDS.get(format);
      if (mimeType !== undefined) return [{ inlineData: { mimeType, data } }];
      const param = `${place.at}.input_audio.format`;
      throw unsupported(`${param} must be one of ${[...SOUNDS.keys()].join(', ')}.`, param);
    }
    case 'file':
      return [fileOf(part.file, place)];
  }
}

function imageOf(
  { url, detail }: { url: string; detail?: string },
  { at, ignored }: PartPlace,
): GeminiObject {
  if (detail !== undefined && detail !== 'auto') {
    ignored.add('messages[].content[].image_url.detail');
  }
  const param = `${at}.image_url.url`;
  if (!isDataUrl(url)) throw unsupported(`${param} must be a data: URL for this model.`, param);
  const { type, data } = dataIn(url);
  return { inlineData: { mimeType: type || sniffImageType(headOf(data)), data } };
}

/**
 * Only bytes are taken: an ID or an address of the upstream's own storage would be read with the
 * operator's rights.
 */
function fileOf(
  { filename, file_data, file_id }: { filename?: string; file_data?: string; file_id?: string },
  { at }: PartPlace,
): GeminiObject {
  const param = file_data === undefined && file_id !== undefined ? 'file_id' : 'file_data';
  if (file_data === undefined || /^[a-z]{2,8}:\/\//iu.test(file_data)) {
    const place = `${at}.file.${param}`;
    throw unsupported(`${place}: this model takes files only as a data: URL.`, place);
  }
  const { type, data } = isDataUrl(file_data) ? dataIn(file_data) : { type: '', data: file_data };
  const isText = /\.(txt|md|csv)$/iu.test(filename ?? '');
  return { inlineData: { mimeType: type || (isText ? 'text/plain' : 'application/pdf'), data } };
}

/** The parts of a data: URL of base64. The type is empty if it has none. */
function dataIn(url: string): { type: string; data: string } {
  const comma = url.indexOf(',');
  const [type = ''] = url.slice('data:'.length, comma).split(';');
  return { type: type.toLowerCase(), data: url.slice(comma + 1) };
}
