import {
  LONGEST_PACKET,
  ODD_FILE_SECONDS,
  opusSeconds,
  StepLimit,
  unknownSeconds,
  vorbisAt,
  type PacketSeconds,
} from './packet-seconds.js';

const CLUSTER = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
/** From here on IDs are those of clusters and of their neighbours. */
const TOP_LEVEL = 0x10_00_00_00;
const TRACKS = Buffer.from([0x16, 0x54, 0xae, 0x6b]);
const TRACK_ENTRY = 0xae;
const TRACK_NUMBER = 0xd7;
const CODEC = 0x86;
const CODEC_PRIVATE = 0x63_a2;
/** The name of a codec is known by so many bytes. */
const CODEC_BYTES = 8;
/** Within so many bytes the header of Vorbis begins. */
const PRIVATE_BYTES = 1_024;

interface Element {
  id: number;
  start: number;
  size: number;
}

/** The seconds of the audio blocks of all clusters of a WebM file, wherever they are. */
export function webmSeconds(bytes: Buffer): number {
  const steps = new StepLimit();
  const tracks = tracksIn(bytes, steps);
  let seconds = 0;
  for (let at = bytes.indexOf(CLUSTER); at >= 0; at = bytes.indexOf(CLUSTER, at + 1)) {
    for (const { id, start, size } of childrenOf(bytes, at, BLOCK_GROUP, steps)) {
      if (id === SIMPLE_BLOCK || id === BLOCK) seconds += blockSeconds(bytes, start, size, tracks);
    }
  }
  return steps.isOver ? ODD_FILE_SECONDS : seconds;
}

/** A track, as far as its elements have come. */
interface Track {
  number?: number;
  codec?: string;
  private_at?: number;
}

type Tracks = ReadonlyMap<number, PacketSeconds>;

/** How long the packets of each track play: those of pictures not at all. */
function tracksIn(bytes: Buffer, steps: StepLimit): Tracks {
  const found: Track[] = [];
  for (let at = bytes.indexOf(TRACKS); at >= 0; at = bytes.indexOf(TRACKS, at + 1)) {
    let track: Track = {};
    for (const { id, start, size } of childrenOf(bytes, at, TRACK_ENTRY, steps)) {
      if (id === TRACK_ENTRY) found.push((track = {}));
      else if (id === TRACK_NUMBER) track.number = size === 1 ? (bytes[start] ?? 0) : 0;
      else if (id === CODEC) track.codec = bytes.toString('latin1', start, start + CODEC_BYTES);
      else if (id === CODEC_PRIVATE) track.private_at = start;
    }
  }
  const tracks = new Map<number, PacketSeconds>();
  for (const { number = 0, codec = '', private_at = 0 } of found) {
    // Of two tracks with one number, programs may believe either.
    const isTwin = tracks.has(number);
    tracks.set(number, isTwin ? unknownSeconds : codecOf(bytes, codec, private_at));
  }
  return tracks;
}

const nothing: PacketSeconds = () => 0;

function codecOf(bytes: Buffer, codec: string, private_at: number): PacketSeconds {
  if (codec.startsWith('V_')) return nothing;
  if (codec.startsWith('A_OPUS')) return opusSeconds;
  if (!codec.startsWith('A_VORBIS')) return unknownSeconds;
  const head = bytes.subarray(private_at, private_at + PRIVATE_BYTES);
  const at = head.indexOf('\u0001vorbis', 0, 'latin1');
  return at < 0 ? unknownSeconds : vorbisAt(head, at);
}

/** The elements within the one at an offset; a `master` is followed by its own children. */
function* childrenOf(
  bytes: Buffer,
  at: number,
  master: number,
  steps: StepLimit,
): Generator<Element> {
  const parent = elementAt(bytes, at);
  let next = parent?.start;
  while (next !== undefined && next < bytes.length && steps.take()) {
    const child = elementAt(bytes, next);
    if (!child || child.id >= TOP_LEVEL) return;
    yield child;
    next = child.id === master ? child.start : child.start + child.size;
  }
}

/** Undefined if no element begins there. Its size is Infinity if it is not known. */
function elementAt(bytes: Buffer, at: number): Element | undefined {
  const id_length = lengthBy(bytes[at]);
  const size_at = at + id_length;
  const size_length = lengthBy(bytes[size_at]);
  const start = size_at + size_length;
  if (id_length > 4 || size_length > 8 || start > bytes.length) return undefined;
  const most = 0xff >> size_length;
  let size = (bytes[size_at] ?? 0) & most;
  let isUnknown = size === most;
  for (const byte of bytes.subarray(size_at + 1, start)) {
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { id: bytes.readUIntBE(at, id_length), start, size: isUnknown ? Infinity : size };
}

/** The bytes of a number of variable length, by the zeros before the first bit of its first one. */
function lengthBy(first = 0): number {
  return Math.clz32(first) - 23;
}

function blockSeconds(bytes: Buffer, start: number, size: number, tracks: Tracks): number {
  const number = bytes[start] ?? 0;
  const isShort = lengthBy(number) === 1;
  const seconds = (isShort ? tracks.get(number & 0x7f) : undefined) ?? unknownSeconds;
  const flags_at = start + lengthBy(number) + 2;
  const packet_at = flags_at + 1;
  const packet = seconds(bytes, packet_at, start + size - packet_at);
  const isLaced = ((bytes[flags_at] ?? 0) & 6) !== 0;
  if (!isLaced || seconds === nothing) return packet;
  // Of several packets in a block, each may be of the longest kind.
  return ((bytes[packet_at] ?? 0) + 1) * Math.max(packet, LONGEST_PACKET);
}
