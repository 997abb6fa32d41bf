import { ODD_FILE_SECONDS, StepLimit } from './packet-seconds.js';

/** Samples of a block by its code; codes 6 and 7 have the number in the header. */
function blockSamples(code: number): number {
  if (code === 1) return 192;
  return code < 6 ? 576 << (code - 2) : 256 << (code - 8);
}

const RATES = [
  0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
];
const HEAD_BYTES = 16;
/** Where the header of a file has its rate, in twenty bits. */
const RATE_AT = 18;

/** The rate in a FLAC header, which begins with its mark; 0 if the header is cut off. */
export function flacRate(bytes: Buffer, mark_at: number): number {
  const at = mark_at + RATE_AT;
  return at + 3 <= bytes.length ? bytes.readUIntBE(at, 3) >> 4 : 0;
}

/** How frames begin, with blocks of one size or of many. */
const MARKS = [Buffer.from([0xff, 0xf8]), Buffer.from([0xff, 0xf9])];

/** The seconds of all frames of a FLAC file, whatever length its header claims. */
export function flacSeconds(bytes: Buffer): number {
  const rate = flacRate(bytes, Math.max(0, bytes.indexOf('fLaC')));
  const steps = new StepLimit();
  let seconds = 0;
  for (const mark of MARKS) {
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
      if (!steps.take()) return ODD_FILE_SECONDS;
      seconds += flacFrameSeconds(bytes, at, rate) ?? 0;
    }
  }
  return seconds;
}

/**
 * The seconds of the frame that begins at an offset; undefined if none does: a decoder takes no
 * header whose checksum is wrong. `file_rate` counts for a frame without a rate of its own.
 */
export function flacFrameSeconds(bytes: Buffer, at: number, file_rate: number): number | undefined {
  const [mark = 0, sync = 0, codes = 0, kind = 0] = bytes.subarray(at, at + 4);
  if (mark !== 0xff || (sync & 0xfe) !== 0xf8 || (kind & 1) !== 0) return undefined;
  const [size_code, rate_code] = [codes >> 4, codes & 15];
  if (size_code === 0 || rate_code === 15) return undefined;
  const number_length = Math.max(1, Math.clz32(~(bytes[at + 4] ?? 0) & 0xff) - 24);
  const size_at = at + 4 + number_length;
  const size_length = size_code === 6 ? 1 : size_code === 7 ? 2 : 0;
  const rate_at = size_at + size_length;
  const rate_length = rate_code === 12 ? 1 : rate_code > 12 ? 2 : 0;
  const end = rate_at + rate_length;
  if (end >= bytes.length || end - at > HEAD_BYTES) return undefined;
  if (checksum(bytes.subarray(at, end)) !== bytes[end]) return undefined;
  const samples =
    size_length === 0 ? blockSamples(size_code) : bytes.readUIntBE(size_at, size_length) + 1;
  const given = rate_length === 0 ? 0 : bytes.readUIntBE(rate_at, rate_length);
  const own_rate =
    rate_length === 0 ? (RATES[rate_code] ?? 0) : given * (UNITS[rate_code - 12] ?? 1);
  return samples / Math.max(1, own_rate || file_rate);
}

/** Rates in the header are in kHz, in Hz or in tens of Hz. */
const UNITS = [1_000, 1, 10];

/** CRC-8 with the polynomial 0x07. */
function checksum(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return crc;
}
