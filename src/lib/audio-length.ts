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

/** The audio format of a file by its first bytes; undefined for any other file. */
export function sniffAudio(bytes: Buffer): AudioType | undefined {
  const head = bytes.toString('latin1', 0, MARK_BYTES);
  const found = MARKS.find(({ mark }) => mark.test(head));
  return found?.kind ?? (frameAt(bytes, 0) ? MP3 : undefined);
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

/**
 * The duration of an MP3 file or an uncompressed WAV file in seconds, computed from its headers.
 * Undefined for other formats, and for headers that make no sense.
 */
export function secondsOf(bytes: Buffer): number | undefined {
  const kind = sniffAudio(bytes);
  if (kind !== WAV && kind !== MP3) return undefined;
  const seconds = kind === WAV ? secondsOfWav(bytes) : secondsOfMp3(bytes);
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
function secondsOfWav(bytes: Buffer): number {
  let second_bytes: number | undefined;
  let at = 12;
  for (let chunks = 0; at + CHUNK_HEAD <= bytes.length && chunks < MAX_CHUNKS; chunks += 1) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const start = at + CHUNK_HEAD;
    if (name === 'data') return soundBytes(bytes, start, length) / (second_bytes ?? NaN);
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
function soundBytes(bytes: Buffer, start: number, length: number): number {
  const sound = Math.min(length, bytes.length - start);
  // With much beside the sound, all counts: another program may play it.
  return sound === 0 || bytes.length - sound <= BESIDE_BYTES ? sound : bytes.length;
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

/** Kilobits per second by the index in a frame header, for layers I to III. */
const KILOBITS_1 = [
  [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
];
const KILOBITS_2 = [
  [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const RATES = [44_100, 48_000, 32_000];
const TAG_BYTES = 10;
const HAS_FOOTER = 0x10;

function secondsOfMp3(bytes: Buffer): number {
  let at = bytes.toString('latin1', 0, 3) === 'ID3' ? tagEnd(bytes) : 0;
  let seconds = 0;
  for (let frame = frameAt(bytes, at); frame; frame = frameAt(bytes, at)) {
    seconds += frame.seconds;
    at += frame.bytes;
  }
  return bytes.length - at <= BESIDE_BYTES ? seconds : NaN;
}

/**
 * The end of an ID3 tag. Its length has seven bits in each of four bytes. NaN if it breaks that
 * rule: programs then look for sound within it.
 */
function tagEnd(bytes: Buffer): number {
  const head = [...bytes.subarray(0, TAG_BYTES)];
  const digits = head.slice(6);
  const [, , , version, revision, flags = 0] = head;
  const isTag = digits.length === 4 && digits.every((digit) => digit < 0x80);
  if (!isTag || version === 0xff || revision === 0xff) return NaN;
  const footer_bytes = flags & HAS_FOOTER ? TAG_BYTES : 0;
  return TAG_BYTES + digits.reduce((sum, digit) => sum * 128 + digit, 0) + footer_bytes;
}

/** The size and the duration of the frame at an offset; undefined if no frame begins there. */
function frameAt(bytes: Buffer, at: number): { bytes: number; seconds: number } | undefined {
  if (!(at + 4 <= bytes.length)) return undefined;
  const head = bytes.readUInt32BE(at);
  const version = (head >>> 19) & 3;
  const layer = 3 - ((head >>> 17) & 3);
  if (head >>> 21 !== 0x7ff || version === 1 || layer === 3) return undefined;
  const isFirst = version === 3;
  const table = isFirst ? KILOBITS_1 : KILOBITS_2;
  const kilobits = table[layer]?.[((head >>> 12) & 15) - 1];
  const base = RATES[(head >>> 10) & 3];
  if (kilobits === undefined || base === undefined) return undefined;
  const rate = base / (isFirst ? 1 : version === 2 ? 2 : 4);
  const samples = layer === 0 ? 384 : layer === 2 && !isFirst ? 576 : 1_152;
  const padding = (head >>> 9) & 1;
  const whole = Math.floor((samples / 8) * ((kilobits * 1_000) / rate));
  const slot = layer === 0 ? 4 : 1;
  return { bytes: Math.floor(whole / slot) * slot + padding * slot, seconds: samples / rate };
}
