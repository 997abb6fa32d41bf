import { sniffAudio } from './audio-length.js';
import { headOf } from './data-url.js';
import { sniffImageType } from './image-type.js';

/** Only a media type, parameters and base64 are allowed, since a model would read free text. */
const HEAD = /^data:[a-z]{1,16}\/[\w.+-]{1,64}(?:;[\w.+-]{1,64}=[\w.+-]{1,64}){0,4};base64,/u;
const BASE64 = /^[A-Za-z\d+/]*={0,2}$/u;
/** The signatures of other files, with their offsets: MP4, PDF, Matroska, ZIP. */
const MARKS: readonly (readonly [at: number, mark: string])[] = [
  [4, 'ftyp'],
  [0, '%PDF-'],
  [0, '\x1a\x45\xdf\xa3'],
  [0, 'PK\x03\x04'],
];

/** Whether a text is a data: URL of an image, of audio, or of another file that is not text. */
export function isMediaUrl(text: string): boolean {
  const before = HEAD.exec(text)?.[0];
  const base64 = before === undefined ? '' : text.slice(before.length);
  if (!BASE64.test(base64)) return false;
  const head = headOf(base64);
  if (sniffAudio(head) || sniffImageType(head).startsWith('image/')) return true;
  return MARKS.some(([at, mark]) => head.toString('latin1', at, at + mark.length) === mark);
}
