import type { ContentPart } from '../../src/schema-types/chat-completion.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { cacheControl, type EncodeContext } from './context.js';
import { IMAGE_TYPES, type DocumentBlock, type ImageBlock, type MediaBlock } from './wire.js';

type Content = string | readonly ContentPart[] | null | undefined;
type ContentPartOf<Type> = Extract<ContentPart, { type: Type }>;

const DATA_URL = /^data:([^,;]{0,100})(?:;[^,]{0,100})?;base64,/u;
const IMAGES: readonly string[] = IMAGE_TYPES;

/**
 * The content of a message as blocks, without text of white space alone, which the API refuses.
 * Throws the `UpstreamError` `unsupported` for audio, and for images and files of other types.
 */
export function mediaBlocks(content: Content, at: string, context: EncodeContext): MediaBlock[] {
  if (typeof content === 'string') return textBlocks(content);
  return (content ?? []).flatMap((part, index) =>
    mediaBlock(part, `${at}.content[${index}]`, context),
  );
}

function mediaBlock(part: ContentPart, at: string, context: EncodeContext): MediaBlock[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text).map((block) => ({ ...block, ...cacheControl(part, context) }));
    case 'image_url':
      return [{ ...imageBlock(part, at, context), ...cacheControl(part, context) }];
    case 'file':
      return [{ ...documentBlock(part, at), ...cacheControl(part, context) }];
    case 'input_audio':
      throw unsupported(at, 'audio');
  }
}

function textBlocks(text: string): { type: 'text'; text: string }[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function imageBlock(
  { image_url }: ContentPartOf<'image_url'>,
  at: string,
  context: EncodeContext,
): ImageBlock {
  const { url, detail } = image_url;
  if (detail !== undefined && detail !== 'auto') {
    context.ignored.add('messages[].content[].image_url.detail');
  }
  if (/^https:\/\//iu.test(url)) return { type: 'image', source: { type: 'url', url } };
  const { type, data } = dataOf(url);
  return { type: 'image', source: imageBytes(type, data, at) };
}

/** Throws the `UpstreamError` `unsupported` for a type that is not taken. */
export function imageBytes(type: string, data: string, at: string): ImageBlock['source'] {
  if (!isImageType(type)) throw unsupported(at, `images of the type ${type || 'unknown'}`);
  return { type: 'base64', media_type: type, data };
}

function isImageType(type: string): type is (typeof IMAGE_TYPES)[number] {
  return IMAGES.includes(type);
}

function documentBlock({ file }: ContentPartOf<'file'>, at: string): DocumentBlock {
  const { filename, file_data: data = '' } = file;
  const title = filename ? { title: filename } : {};
  if (/^https:\/\//iu.test(data)) {
    return { type: 'document', source: { type: 'url', url: data }, ...title };
  }
  // An ID names a file of the gateway's account, which is not one client's own.
  if (data === '') throw unsupported(at, 'files by their ID');
  const { type, data: base64 } = dataOf(data);
  if (type === 'application/pdf') {
    const source = { type: 'base64', media_type: type, data: base64 } as const;
    return { type: 'document', source, ...title };
  }
  if (!type.startsWith('text/') && type !== 'application/json') {
    throw unsupported(at, `files of the type ${type || 'unknown'}`);
  }
  const text = Buffer.from(base64, 'base64').toString('utf8');
  return {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: text },
    ...title,
  };
}

/** Type and base64 of a data URL; no type if it is not a data URL. */
function dataOf(url: string): { type: string; data: string } {
  const [head, type = ''] = DATA_URL.exec(url) ?? [];
  return {
    type: type.trim().toLowerCase(),
    data: head === undefined ? '' : url.slice(head.length),
  };
}

function unsupported(param: string, what: string): UpstreamError {
  const message = `${param}: this upstream does not take ${what}.`;
  return new UpstreamError('unsupported', message, undefined, { param });
}
