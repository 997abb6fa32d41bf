import { sniffAudio } from './audio-length.js';
import { sniffImageType } from './image-type.js';

/** Nothing but a media type, its parameters and base64: free text would be read by a model. */
const MEDIA_URL =
  /^data:[a-z]{1,16}\/[\w.+-]{1,64}(?:;[\w.+-]{1,64}=[\w.+-]{1,64}){0,4};base64,([A-Za-z\d+/]*)={0,2}$/u;
const HEAD_CHARACTERS = 64;
/** The first bytes of further files, and where they stand: MP4, PDF, Matroska, ZIP. */
const MARKS: readonly (readonly [at: number, mark: string])[] = [
  [4, 'ftyp'],
  [0, '%PDF-'],
  [0, '\x1a\x45\xdf\xa3'],
  [0, 'PK\x03\x04'],
];

/** Whether a text is a data: URL of an image, of sound, or of another file, and of no text. */
export function isMediaUrl(text: string): boolean {
  if (!text.startsWith('data:')) return false;
  const [, base64] = MEDIA_URL.exec(text) ?? [];
  if (base64 === undefined) return false;
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64');
  if (sniffAudio(head) || sniffImageType(head).startsWith('image/')) return true;
  return MARKS.some(([at, mark]) => head.toString('latin1', at, at + mark.length) === mark);
}
