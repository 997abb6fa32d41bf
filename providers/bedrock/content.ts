import type { ContentPart } from '../../src/schema-types/chat-completion.js';
import { unsupported } from './errors.js';
import type { Target } from './model.js';

/** A block of Converse: an object with one member, whose name is the kind of the block. */
export type Block = Record<string, unknown>;

const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
]);

const FORMATS = new Set(DOCUMENT_FORMATS.values());
const NAME_CHARACTERS = 150;

/** Names the documents of one request: two of one name are an error. */
export class DocumentNames {
  readonly #taken = new Set<string>();

  /** A name with the few characters that Converse takes: letters, digits, spaces, `-()[]`. */
  nameOf(filename: string): string {
    const stem = filename.replace(/\.[A-Za-z0-9]{1,5}$/u, '').slice(0, NAME_CHARACTERS);
    const plain = stem.replace(/[^A-Za-z0-9\-()[\]]+/gu, ' ').trim() || 'document';
    let name = plain;
    for (let copy = 2; this.#taken.has(name); copy += 1) name = `${plain} (${copy})`;
    this.#taken.add(name);
    return name;
  }
}

/** Texts that are blank are an error, and are left out. */
export function textBlocks(text: string | null | undefined): Block[] {
  return text && text.trim() !== '' ? [{ text }] : [];
}

/**
 * A part of a message as blocks. `param` is its place in the client's request. Throws the
 * `UpstreamError` `unsupported` for audio, for a file that is not in the request, and for a format
 * that Converse does not accept.
 */
export function partBlocks(
  part: ContentPart,
  param: string,
  { names, target }: { names: DocumentNames; target: Target },
): Block[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text);
    case 'image_url':
      if ((part.image_url.detail ?? 'auto') !== 'auto') {
        target.ignored.add('messages[].content[].image_url.detail');
      }
      return [imageBlock(part.image_url.url, `${param}.image_url.url`)];
    case 'input_audio':
      throw unsupported('Amazon Bedrock takes no sound here.', `${param}.input_audio`);
    case 'file':
      return [documentBlock(part.file, `${param}.file`, names)];
  }
}

function imageBlock(url: string, param: string): Block {
  const { type, bytes } = dataOf(url, param);
  const format = IMAGE_FORMATS.get(type);
  if (format) return { image: { format, source: { bytes } } };
  throw unsupported('Amazon Bedrock takes images as PNG, JPEG, GIF or WebP.', param);
}

function documentBlock(
  {
    filename = '',
    file_data,
    file_id,
  }: { filename?: string; file_data?: string; file_id?: string },
  param: string,
  names: DocumentNames,
): Block {
  if (file_data === undefined) {
    const message = 'Amazon Bedrock keeps no files: send the file itself in file_data.';
    throw unsupported(message, file_id === undefined ? param : `${param}.file_id`);
  }
  const { type, bytes } = dataOf(file_data, `${param}.file_data`);
  const ending = /\.([A-Za-z0-9]+)$/u.exec(filename)?.[1]?.toLowerCase() ?? '';
  const format = DOCUMENT_FORMATS.get(type) ?? (FORMATS.has(ending) ? ending : undefined);
  if (!format) {
    const taken = [...FORMATS].join(', ');
    throw unsupported(`Amazon Bedrock takes files of these formats: ${taken}.`, param);
  }
  return { document: { format, name: names.nameOf(filename), source: { bytes } } };
}

function dataOf(url: string, param: string): { type: string; bytes: string } {
  const [head, type] = /^data:([^;,]{1,120})[^,]{0,200};base64,/iu.exec(url) ?? [];
  if (head === undefined || type === undefined) {
    throw unsupported('Amazon Bedrock follows no URLs: send a data: URL with base64.', param);
  }
  return { type: type.trim().toLowerCase(), bytes: url.slice(head.length) };
}
