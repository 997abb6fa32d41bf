import type { Capability } from '../../../core/model.js';
import { GatewayError } from '../../../core/errors.js';
import { noteExtras } from '../../../http/request-body.js';
import { countPdfPages, type Unfolding } from '../../../lib/pdf-pages.js';
import type { CacheControl, ContentPart, FilePart } from '../../../schema-types/chat-completion.js';
import { checkImageUrl, isHttp } from '../../../upstream/client-url.js';
import type { PromptSize } from '../call.js';

/** What reading the parts of one request's messages goes by, and adds to. */
export interface Reading {
  capabilities: ReadonlySet<Capability>;
  ignored: Set<string>;
  size: PromptSize;
  /** What the files of the request may still unfold to while their pages are counted. */
  unfolding: Unfolding;
}

const PART_KEYS = new Set(['type', 'text', 'image_url', 'input_audio', 'file', 'cache_control']);
const IMAGE_KEYS = new Set(['url', 'detail']);
const FILE_KEYS = new Set(['filename', 'file_data', 'file_id']);
const DATA_URL = /^data:([^;,]{0,100})(?:;[^,]{0,100})?,/u;
/** Pages of a file that does not show how many it has: most providers take no more. */
const UNKNOWN_PAGES = 100;

/**
 * A part as it travels, without what the contract does not name; measures it. Throws `GatewayError`
 * naming the part where the model does not take it.
 */
export function readPart(part: ContentPart, place: string, reading: Reading): ContentPart {
  const { size, ignored } = reading;
  noteExtras(part, PART_KEYS, 'messages[].content[]', ignored);
  switch (part.type) {
    case 'text':
      size.text_bytes += Buffer.byteLength(part.text);
      return { type: 'text', text: part.text, ...marked(part.cache_control) };
    case 'image_url': {
      gatePart(reading, 'vision', place, 'images');
      const { url, detail } = part.image_url;
      checkImageUrl(url, `${place}.image_url.url`);
      size.images += 1;
      if (isHttp(url)) size.urls += 1;
      noteExtras(part.image_url, IMAGE_KEYS, 'messages[].content[].image_url', ignored);
      const image_url = detail === undefined ? { url } : { url, detail };
      return { type: 'image_url', image_url, ...marked(part.cache_control) };
    }
    case 'input_audio': {
      gatePart(reading, 'audio', place, 'audio');
      const { data, format } = part.input_audio;
      size.audio_bytes += data.length;
      return { type: 'input_audio', input_audio: { data, format } };
    }
    case 'file':
      gatePart(reading, 'file', place, 'files');
      return readFile(part, place, reading);
  }
}

/** A mark for the upstream's cache, without what is no part of it. */
export function marked(mark: CacheControl | undefined): { cache_control?: CacheControl } {
  if (!mark) return {};
  const { type, ttl } = mark;
  return { cache_control: ttl === undefined ? { type } : { type, ttl } };
}

function gatePart(
  { capabilities }: Reading,
  needed: Capability,
  param: string,
  what: string,
): void {
  if (capabilities.has(needed)) return;
  throw new GatewayError('unsupported_capability', `${param}: this model does not take ${what}.`, {
    param,
  });
}

function readFile({ file, cache_control }: FilePart, place: string, reading: Reading): FilePart {
  const { filename, file_data, file_id } = file;
  if ((file_data === undefined) === (file_id === undefined)) {
    const param = `${place}.file`;
    const message = `${param} must have either file_data or file_id.`;
    throw new GatewayError('invalid_request', message, { param });
  }
  if (file_data !== undefined) checkImageUrl(file_data, `${place}.file.file_data`);
  measureFile(file_data, reading);
  noteExtras(file, FILE_KEYS, 'messages[].content[].file', reading.ignored);
  const read: FilePart['file'] = {};
  if (filename !== undefined) {
    read.filename = filename;
    reading.size.text_bytes += Buffer.byteLength(filename);
  }
  if (file_data !== undefined) read.file_data = file_data;
  if (file_id !== undefined) read.file_id = file_id;
  return { type: 'file', file: read, ...marked(cache_control) };
}

/** A PDF counts by its pages, any other file by its bytes, of which a token has at least one. */
function measureFile(data: string | undefined, { size, unfolding }: Reading): void {
  const head = data === undefined ? null : DATA_URL.exec(data);
  if (data === undefined || !head) {
    if (isHttp(data)) size.urls += 1;
    size.pages += UNKNOWN_PAGES;
    return;
  }
  const bytes = Buffer.from(data.slice(head[0].length), 'base64');
  if (head[1]?.toLowerCase() !== 'application/pdf') size.text_bytes += bytes.length;
  else size.pages += countPdfPages(bytes, unfolding) ?? UNKNOWN_PAGES;
}
