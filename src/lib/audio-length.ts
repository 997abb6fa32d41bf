/** An audio format: its media type and the extension of its files. */
export interface AudioType {
  type: string;
  extension: string;
}

const MP3: AudioType = { type: 'audio/mpeg', extension: 'mp3' };
const WAV: AudioType = { type: 'audio/wav', extension: 'wav' };

/** The first characters of each format. */
const MARKS: readonly { kind: AudioType; mark: RegExp }[] = [
  { kind: WAV, mark: /^(?:RIFF|RF64)[^]{4}WAVE/u },
  { kind: MP3, mark: /^ID3/u },
  { kind: { type: 'audio/flac', extension: 'flac' }, mark: /^fLaC/u },
  { kind: { type: 'audio/ogg', extension: 'ogg' }, mark: /^OggS/u },
  { kind: { type: 'audio/webm', extension: 'webm' }, mark: /^[^]E\u00df\u00a3/u },
  { kind: { type: 'audio/mp4', extension: 'm4a' }, mark: /^[^]{4}ftyp/u },
];
const MARK_BYTES = 12;
/** Within so many bytes Ogg names its codec. */
const FLAC_HEAD_BYTES = 48;

/** The audio format of a file by its first bytes; undefined for any other file. */
export function sniffAudio(bytes: Buffer): AudioType | undefined {
  const head = bytes.toString('latin1', 0, MARK_BYTES);
  const found = MARKS.find(({ mark }) => mark.test(head));
  return found?.kind ?? (isMpegFrame(bytes) ? MP3 : undefined);
}

/**
 * The most seconds that a byte of sound can play: one of FLAC in silence, at the rate of a
 * telephone, and of any other codec as the longest packet of Opus.
 */
const FLAC_MARK = /fLaC|\u007fFLAC/u;
const SECONDS_OF_FLAC = 1;
const SECONDS_OF_OTHERS = 0.12;
const DAY_SECONDS = 86_400;

/** The longest that sound of so many bytes can play, a day at most, by the first of its bytes. */
export function mostSeconds(head: Buffer, file_bytes: number): number {
  const isFlac = FLAC_MARK.test(head.toString('latin1', 0, FLAC_HEAD_BYTES));
  return Math.min(DAY_SECONDS, file_bytes * (isFlac ? SECONDS_OF_FLAC : SECONDS_OF_OTHERS));
}

const ALIASES: Readonly<Record<string, string>> = {
  mp4: 'm4a',
  mpeg: 'mp3',
  mpga: 'mp3',
  oga: 'ogg',
  opus: 'ogg',
};

/** The audio format of a file by its extension; undefined for any other name. */
export function audioNamed(filename: string): AudioType | undefined {
  const end = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  const extension = ALIASES[end] ?? end;
  return MARKS.find(({ kind }) => kind.extension === extension)?.kind;
}

/** The audio format of a media type; undefined for any other type. */
export function audioTyped(type: string): AudioType | undefined {
  return MARKS.find(({ kind }) => kind.type === type)?.kind;
}

/** What may stand before the sound of a WAV file, as recorders write it. */
export const WAV_HEAD_BYTES = 64 * 1024;

/**
 * The duration of an uncompressed WAV file in seconds, by its first bytes and its length. Undefined
 * for other formats, and for headers that make no sense.
 */
export function secondsOfWav(file: Buffer, file_bytes = file.length): number | undefined {
  const bytes = file.subarray(0, WAV_HEAD_BYTES);
  if (sniffAudio(bytes) !== WAV) return undefined;
  const seconds = wavSeconds(bytes, file_bytes);
  return seconds > 0 && Number.isFinite(seconds) ? seconds : undefined;
}

const CHUNK_HEAD = 8;
const FORMAT_BYTES = 16;
/** The codes of uncompressed samples: integers and floats. */
const UNCOMPRESSED = [1, 3];
/** An extended header has the code of the samples further down. */
const EXTENDED = 0xfffe;
const EXTENDED_CODE_AT = 24;
const MAX_CHUNKS = 1_000;
/** Tags, or a part of a frame, may stand beside the sound. */
const BESIDE_BYTES = 4_096;
/** The most of each that recorders write. */
const MAX_CHANNELS = 32;
const MAX_RATE = 384_000;
const MAX_SAMPLE_BYTES = 8;

/**
 * NaN if the file does not tell its length. The length decides the price, so a header that programs
 * could read in two ways does not count: a second format, or a chunk of odd length, after which
 * some programs skip a byte and others do not.
 */
function wavSeconds(bytes: Buffer, file_bytes: number): number {
  let second_bytes: number | undefined;
  let at = 12;
  for (let chunks = 0; at + CHUNK_HEAD <= bytes.length && chunks < MAX_CHUNKS; chunks += 1) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const start = at + CHUNK_HEAD;
    if (name === 'data') return soundBytes(start, length, file_bytes) / (second_bytes ?? NaN);
    if (length % 2 === 1) return NaN;
    if (name === 'fmt ') {
      if (second_bytes !== undefined) return NaN;
      second_bytes = secondBytes(bytes, start);
    }
    at = start + length;
  }
  return NaN;
}

/** The bytes of sound. A file that was written as a stream claims the maximum length. */
function soundBytes(start: number, length: number, file_bytes: number): number {
  const sound = Math.min(length, file_bytes - start);
  // With much beside the sound, all counts: another program may play it.
  return sound === 0 || file_bytes - sound <= BESIDE_BYTES ? sound : file_bytes;
}

/** The bytes of a second of sound; NaN if the format is compressed, or contradicts itself. */
function secondBytes(bytes: Buffer, at: number): number {
  if (at + FORMAT_BYTES > bytes.length) return NaN;
  const channels = bytes.readUInt16LE(at + 2);
  const rate = bytes.readUInt32LE(at + 4);
  const sample_bytes = Math.ceil(bytes.readUInt16LE(at + 14) / 8);
  const frame_bytes = channels * sample_bytes;
  const isUsual =
    UNCOMPRESSED.includes(sampleCode(bytes, at)) &&
    channels <= MAX_CHANNELS &&
    rate <= MAX_RATE &&
    sample_bytes <= MAX_SAMPLE_BYTES &&
    bytes.readUInt32LE(at + 8) === rate * frame_bytes &&
    bytes.readUInt16LE(at + 12) === frame_bytes;
  return isUsual ? rate * frame_bytes : NaN;
}

function sampleCode(bytes: Buffer, at: number): number {
  const code = bytes.readUInt16LE(at);
  if (code !== EXTENDED || at + EXTENDED_CODE_AT + 2 > bytes.length) return code;
  return bytes.readUInt16LE(at + EXTENDED_CODE_AT);
}

/** Whether MPEG audio begins with these four bytes: none of their codes is a reserved one. */
function isMpegFrame(head: Buffer): boolean {
  if (head.length < 4) return false;
  const bits = head.readUInt32BE(0);
  const [version, layer] = [(bits >>> 19) & 3, (bits >>> 17) & 3];
  const [kilobits, rate] = [(bits >>> 12) & 15, (bits >>> 10) & 3];
  const isKnown = version !== 1 && layer !== 0 && rate !== 3;
  return bits >>> 21 === 0x7ff && isKnown && kilobits !== 0 && kilobits !== 15;
}
