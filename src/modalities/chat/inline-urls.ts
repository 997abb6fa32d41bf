import { fieldError } from '../../core/errors.js';
import { sniffImageType } from '../../lib/image-type.js';
import type { ChatMessage, ContentPart } from '../../schema-types/chat-completion.js';
import { isHttp } from '../../upstream/client-url.js';
import { fetchFiles, Unfetchable, type FetchLimits } from '../../upstream/fetch-files.js';
import type { Network } from '../../upstream/network-types.js';
import { unsent } from '../../upstream/upstream-call.js';
import type { CallScope } from '../../upstream/upstream-request.js';

/** The first field with a URL, and the kind of file that it must lead to. */
interface UrlPlace {
  param: string;
  kind: 'image' | 'file';
}

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const PDF_MARK = '%PDF-';

/**
 * Fetches the http(s) URLs of images and files, and returns the messages with data: URLs in their
 * place, for an upstream that fetches none. Throws `GatewayError` (400) naming the part whose URL
 * leads to no image, or to no PDF.
 */
export async function inlineUrls(
  messages: readonly ChatMessage[],
  limits: FetchLimits & { fetch_urls: number },
  network: Network,
  scope: CallScope,
): Promise<ChatMessage[]> {
  const places = placesOf(messages);
  const surplus = [...places.values()][limits.fetch_urls];
  if (surplus) throw fieldError(surplus.param, `is one of more than ${limits.fetch_urls} URLs`);
  try {
    const files = await fetchFiles([...places.keys()], limits, network, scope);
    const inline = new Map<string, string>();
    for (const [url, bytes] of files) inline.set(url, dataUrl(bytes, places.get(url)));
    return messages.map((message) => inlined(message, inline));
  } catch (error) {
    // The call is sent only with the files in it.
    if (!(error instanceof Unfetchable)) throw unsent(error);
    throw fieldError(places.get(error.url)?.param ?? 'messages', error.message);
  }
}

/** The file as a data: URL. Its type is read from the bytes, as servers may send a wrong one. */
function dataUrl(bytes: Buffer, place: UrlPlace | undefined): string {
  const { param, kind } = place ?? { param: 'messages', kind: 'file' };
  const type = typeOf(bytes, kind);
  if (type) return `data:${type};base64,${bytes.toString('base64')}`;
  throw fieldError(
    param,
    kind === 'file' ? 'leads to no PDF' : 'leads to no PNG, JPEG, GIF or WebP',
  );
}

function typeOf(bytes: Buffer, kind: UrlPlace['kind']): string | undefined {
  if (kind === 'file') {
    const isPdf = bytes.toString('latin1', 0, PDF_MARK.length) === PDF_MARK;
    return isPdf ? 'application/pdf' : undefined;
  }
  return IMAGE_TYPES.find((type) => type === sniffImageType(bytes));
}

function placesOf(messages: readonly ChatMessage[]): Map<string, UrlPlace> {
  const places = new Map<string, UrlPlace>();
  messages.forEach(({ content }, i) => {
    if (!Array.isArray(content)) return;
    content.forEach((part, j) => {
      const url = urlOf(part);
      if (url === undefined || places.has(url)) return;
      const at = `messages[${i}].content[${j}]`;
      const image = part.type === 'image_url';
      const param = image ? `${at}.image_url.url` : `${at}.file.file_data`;
      places.set(url, { param, kind: image ? 'image' : 'file' });
    });
  });
  return places;
}

function urlOf(part: ContentPart): string | undefined {
  if (part.type === 'image_url') return isHttp(part.image_url.url) ? part.image_url.url : undefined;
  if (part.type !== 'file') return undefined;
  return isHttp(part.file.file_data) ? part.file.file_data : undefined;
}

function inlined(message: ChatMessage, inline: ReadonlyMap<string, string>): ChatMessage {
  const { content } = message;
  if (!Array.isArray(content) || !content.some((part) => urlOf(part))) return message;
  return { ...message, content: content.map((part) => inlinedPart(part, inline)) };
}

function inlinedPart(part: ContentPart, inline: ReadonlyMap<string, string>): ContentPart {
  const data = inline.get(urlOf(part) ?? '');
  if (data === undefined) return part;
  if (part.type === 'image_url') return { ...part, image_url: { ...part.image_url, url: data } };
  return part.type === 'file' ? { ...part, file: { ...part.file, file_data: data } } : part;
}
