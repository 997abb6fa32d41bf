import { flacFrameSeconds, flacRate } from './flac-frames.js';
import {
  ODD_FILE_SECONDS,
  opusSeconds,
  StepLimit,
  vorbisAt,
  type PacketSeconds,
} from './packet-seconds.js';

/** The packets of a codec, by the header packet at an offset; undefined if none begins there. */
function codecAt(bytes: Buffer, at: number): PacketSeconds | undefined {
  const head = bytes.toString('latin1', at, at + 8);
  if (head === 'OpusHead') return opusOrHeader;
  if (head.startsWith('\u0001vorbis')) return vorbisAt(bytes, at);
  if (head === 'Speex   ') return speexAt(bytes, at);
  if (!head.startsWith('\u007fFLAC')) return undefined;
  // Its own mark stands before the header of a FLAC file.
  const rate = flacRate(bytes, at + 9);
  return (_, start) => flacFrameSeconds(bytes, start, rate) ?? 0;
}

const SPEEX_HEADER_BYTES = 80;
/** The samples of the shortest frame of Speex. */
const SPEEX_SAMPLES = 160;

/** Each packet of Speex has as many frames as its header says. */
function speexAt(bytes: Buffer, at: number): PacketSeconds | undefined {
  if (at + SPEEX_HEADER_BYTES > bytes.length) return undefined;
  const rate = Math.max(1, bytes.readUInt32LE(at + 36));
  const samples = Math.max(SPEEX_SAMPLES, bytes.readUInt32LE(at + 56));
  const frames = Math.max(1, bytes.readUInt32LE(at + 64));
  return () => (frames * samples) / rate;
}

/** No packet of Opus can begin as its two headers do. */
const opusOrHeader: PacketSeconds = (bytes, at, length) =>
  bytes.toString('latin1', at, at + 2) === 'Op' ? 0 : opusSeconds(bytes, at, length);

interface OggStream {
  /** Several if the file has several headers for it: programs may believe any of them. */
  codecs: PacketSeconds[];
  start: number;
  length: number;
  isOpen: boolean;
}

const PAGE = 'OggS';
const PAGE_BYTES = 27;
/** The most headers of one stream. */
const MAX_HEADERS = 4;

/**
 * The seconds of all packets in an Ogg file. Each mark counts as a page, also within another one:
 * decoders skip a page with a wrong checksum, and look for the next mark.
 */
export function oggSeconds(bytes: Buffer): number {
  const streams = new Map<number, OggStream>();
  const steps = new StepLimit();
  let seconds = 0;
  for (let at = 0; at >= 0; at = bytes.indexOf(PAGE, at + PAGE.length)) {
    if (at + PAGE_BYTES > bytes.length) break;
    const table = bytes.subarray(at + PAGE_BYTES, at + PAGE_BYTES + (bytes[at + 26] ?? 0));
    const serial = bytes.readUInt32LE(at + 14);
    const stream = streams.get(serial) ?? { codecs: [], start: 0, length: 0, isOpen: false };
    streams.set(serial, stream);
    const body = at + PAGE_BYTES + table.length;
    const codec = codecAt(bytes, body);
    if (codec) stream.codecs.push(codec);
    if (stream.codecs.length > MAX_HEADERS) return ODD_FILE_SECONDS;
    seconds += pageSeconds(bytes, table, body, stream, steps);
    if (steps.isOver) return ODD_FILE_SECONDS;
  }
  return seconds;
}

/** A packet ends with a part of less than 255 bytes, perhaps on a later page. */
function pageSeconds(
  bytes: Buffer,
  table: Buffer,
  body: number,
  stream: OggStream,
  steps: StepLimit,
): number {
  let seconds = 0;
  let end = body;
  for (const part of table) {
    if (!stream.isOpen) Object.assign(stream, { start: end, length: 0, isOpen: true });
    stream.length += part;
    end += part;
    if (part === 255) continue;
    if (!steps.take()) break;
    stream.isOpen = false;
    const { start, length } = stream;
    seconds += Math.max(0, ...stream.codecs.map((codec) => codec(bytes, start, length)));
  }
  return seconds;
}
