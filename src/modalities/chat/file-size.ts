import { headOf } from '../../lib/data-url.js';

/** The pages of a file that does not tell their number: most providers accept no more. */
export const UNKNOWN_PAGES = 100;

const DATA_URL = /^data:([^;,]{0,100})(?:;[^,]{0,100})?,/u;
/** The head of a PDF may stand a little behind the beginning. */
const PDF_HEAD_BYTES = 1_024;
/**
 * How archives begin, such as office documents, and those of the older kind, in which many cells
 * may share one text: what they hold is far longer than their bytes.
 */
const ARCHIVES = [Buffer.from('PK'), Buffer.from('d0cf11e0', 'hex'), Buffer.from('1f8b', 'hex')];

/** A file by what a model reads of it: pages, a PDF, or bytes of text, in base64. */
export type FileSize = { pages: number } | { pdf: string } | { text: string };

/** How videos begin: sound may begin so too, but says that it is sound. */
const VIDEO = /^(?:[^]{4}ftyp|[^]E\u00df\u00a3)/u;
const VIDEO_HEAD_BYTES = 8;

/**
 * What is read of a file of a prompt, a data: URL: the pages of a PDF, the most of them for an
 * archive or a video, and the bytes of any other. The bytes decide, as they do upstream, whatever
 * media type the client gives. A file by its address or its ID has the most pages.
 */
export function readFileSize(data: string | undefined): FileSize {
  const head = data === undefined ? null : DATA_URL.exec(data);
  if (data === undefined || !head) return { pages: UNKNOWN_PAGES };
  const base64 = data.slice(head[0].length);
  const bytes = headOf(base64, PDF_HEAD_BYTES);
  const type = head[1]?.toLowerCase() ?? '';
  // One picture may stand still for hours.
  if (type.startsWith('video/') || (!type.startsWith('audio/') && isVideo(bytes))) {
    return { pages: UNKNOWN_PAGES };
  }
  if (type === 'application/pdf' || bytes.includes('%PDF-')) return { pdf: base64 };
  const isArchive = ARCHIVES.some((mark) => bytes.subarray(0, mark.length).equals(mark));
  return isArchive ? { pages: UNKNOWN_PAGES } : { text: base64 };
}

function isVideo(bytes: Buffer): boolean {
  return VIDEO.test(bytes.toString('latin1', 0, VIDEO_HEAD_BYTES));
}
