/** An audio format: its media type and the extension of its files. */
export interface AudioType {
  type: string;
  extension: string;
}

const MP3: AudioType = { type: 'audio/mpeg', extension: 'mp3' };
const WAV: AudioType = { type: 'audio/wav', extension: 'wav' };

/** The signature of each format, and the offset at which it stands. */
const MARKS: readonly { kind: AudioType; at: number; mark: string }[] = [
  { kind: WAV, at: 8, mark: 'WAVE' },
  { kind: MP3, at: 0, mark: 'ID3' },
  { kind: { type: 'audio/flac', extension: 'flac' }, at: 0, mark: 'fLaC' },
  { kind: { type: 'audio/ogg', extension: 'ogg' }, at: 0, mark: 'OggS' },
  { kind: { type: 'audio/webm', extension: 'webm' }, at: 0, mark: '\x1a\x45\xdf\xa3' },
  { kind: { type: 'audio/mp4', extension: 'm4a' }, at: 4, mark: 'ftyp' },
];

/** The audio format of a file by its first bytes; undefined for any other file. */
export function sniffAudio(bytes: Buffer): AudioType | undefined {
  const found = MARKS.find(
    ({ at, mark }) => bytes.toString('latin1', at, at + mark.length) === mark,
  );
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
/** The codes of uncompressed samples: integers, floats, and either with an extended header. */
const UNCOMPRESSED = [1, 3, 0xfffe];
const MAX_CHUNKS = 1_000;

/** NaN if the file does not tell its length. */
function secondsOfWav(bytes: Buffer): number {
  let second_bytes = NaN;
  let at = 12;
  for (let chunks = 0; at + CHUNK_HEAD <= bytes.length && chunks < MAX_CHUNKS; chunks += 1) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const start = at + CHUNK_HEAD;
    if (name === 'data') {
      // A file that was written as a stream claims the maximum length.
      const data_bytes = Math.min(length, bytes.length - start);
      return data_bytes / second_bytes;
    }
    if (name === 'fmt ' && start + FORMAT_BYTES <= bytes.length) {
      if (!UNCOMPRESSED.includes(bytes.readUInt16LE(start))) return NaN;
      const channels = bytes.readUInt16LE(start + 2);
      const rate = bytes.readUInt32LE(start + 4);
      second_bytes = channels * rate * Math.ceil(bytes.readUInt16LE(start + 14) / 8);
    }
    at = start + length + (length % 2);
  }
  return NaN;
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
/** A tag or a part of a frame may follow the last whole frame. */
const TAIL_BYTES = 4_096;

function secondsOfMp3(bytes: Buffer): number {
  let at = bytes.toString('latin1', 0, 3) === 'ID3' ? tagEnd(bytes) : 0;
  let seconds = 0;
  for (let frame = frameAt(bytes, at); frame; frame = frameAt(bytes, at)) {
    seconds += frame.seconds;
    at += frame.bytes;
  }
  return bytes.length - at <= TAIL_BYTES ? seconds : NaN;
}

/** The end of an ID3 tag. Its length has seven bits in each of four bytes. */
function tagEnd(bytes: Buffer): number {
  if (bytes.length < TAG_BYTES) return bytes.length;
  const digits = [...bytes.subarray(6, TAG_BYTES)];
  return TAG_BYTES + digits.reduce((sum, digit) => sum * 128 + (digit & 0x7f), 0);
}

/** The size and the duration of the frame at an offset; undefined if no frame begins there. */
function frameAt(bytes: Buffer, at: number): { bytes: number; seconds: number } | undefined {
  if (at + 4 > bytes.length) return undefined;
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
