import { countPdfPages, UNKNOWN_PAGES, type InflateBudget } from '../../lib/pdf-pages.js';

const DATA_URL = /^data:([^;,]{0,100})(?:;[^,]{0,100})?,/u;
/** The head of a PDF may stand a little behind the beginning. */
const PDF_HEAD_BYTES = 1_024;
/**
 * How archives begin, such as office documents, and those of the older kind, in which many cells
 * may share one text: what they hold is far longer than their bytes.
 */
const ARCHIVES = [Buffer.from('PK'), Buffer.from('d0cf11e0', 'hex'), Buffer.from('1f8b', 'hex')];

/** A file by what a model reads of it: pages, or bytes of text. */
export type FileSize = { pages: number } | { text: Buffer };

/** How videos begin: sound may begin so too, but says that it is sound. */
const VIDEO = /^(?:[^]{4}ftyp|[^]E\u00df\u00a3)/u;
const VIDEO_HEAD_BYTES = 8;

/**
 * Measures a file of a prompt, a data: URL: a PDF by its pages, an archive or a video by the most
 * of them, any other by its bytes. The bytes decide, as they do upstream, whatever media type the
 * client gives. A file by its address or its ID has the most pages.
 */
export function readFileSize(data: string | undefined, budget: InflateBudget): FileSize {
  const head = data === undefined ? null : DATA_URL.exec(data);
  if (data === undefined || !head) return { pages: UNKNOWN_PAGES };
  const bytes = Buffer.from(data.slice(head[0].length), 'base64');
  const type = head[1]?.toLowerCase() ?? '';
  // One picture may stand still for hours.
  if (type.startsWith('video/') || (!type.startsWith('audio/') && isVideo(bytes))) {
    return { pages: UNKNOWN_PAGES };
  }
  const isPdf = type === 'application/pdf' || bytes.subarray(0, PDF_HEAD_BYTES).includes('%PDF-');
  if (isPdf) return { pages: countPdfPages(bytes, budget) };
  const isArchive = ARCHIVES.some((mark) => bytes.subarray(0, mark.length).equals(mark));
  return isArchive ? { pages: UNKNOWN_PAGES } : { text: bytes };
}

function isVideo(bytes: Buffer): boolean {
  return VIDEO.test(bytes.toString('latin1', 0, VIDEO_HEAD_BYTES));
}
