import { LONGEST_PACKET, ODD_FILE_SECONDS, StepLimit } from './packet-seconds.js';

interface Box {
  type: string;
  start: number;
  end: number;
}

/** The boxes of a file, as far as they are whole. */
class Boxes {
  readonly steps = new StepLimit();

  constructor(private readonly bytes: Buffer) {}

  /** The boxes between two offsets. */
  *between(from: number, to: number): Generator<Box> {
    const { bytes, steps } = this;
    for (let at = from; at + 8 <= to && steps.take();) {
      const short = bytes.readUInt32BE(at);
      const isLong = short === 1 && at + 16 <= to;
      const size = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short === 0 ? to - at : short;
      const start = at + (isLong ? 16 : 8);
      const end = Math.min(at + size, to);
      if (end < start) return;
      yield { type: bytes.toString('latin1', at + 4, at + 8), start, end };
      at = end;
    }
  }

  /** All boxes at the end of a path of types, such as `mdia/minf`. */
  at(path: string, { start, end } = { start: 0, end: this.bytes.length }): Box[] {
    let found: Box[] = [{ type: '', start, end }];
    for (const type of path.split('/')) {
      const inner = found.flatMap((box) => [...this.between(box.start, box.end)]);
      found = inner.filter((box) => box.type === type);
    }
    return found;
  }
}

/** Samples of a packet of AAC and of Apple's lossless codec, at most. */
const AAC_SAMPLES = 1_024;
const ALAC_SAMPLES = 4_096;
const AMR_SECONDS = 0.02;
/** The lowest rate of AAC. */
const LOWEST_RATE = 7_350;

/** The most tracks of a file. */
const MAX_TRACKS = 64;

/** The seconds of all packets of the sound in an MP4 file, whatever length its header claims. */
export function mp4Seconds(bytes: Buffer): number {
  const boxes = new Boxes(bytes);
  const tracks = boxes.at('moov/trak');
  if (tracks.length > MAX_TRACKS) return ODD_FILE_SECONDS;
  const fragments = inFragments(bytes, boxes);
  let seconds = 0;
  for (const track of tracks) {
    const [handler] = boxes.at('mdia/hdlr', track);
    const kind = handler && bytes.toString('latin1', handler.start + 8, handler.start + 12);
    if (kind !== 'soun') continue;
    const [described] = boxes.at('mdia/minf/stbl/stsd', track);
    const packets = listed(bytes, track, boxes) + (fragments.get(idOf(bytes, track, boxes)) ?? 0);
    seconds += packets * (described ? packetSeconds(bytes, described, boxes) : LONGEST_PACKET);
  }
  return boxes.steps.isOver ? ODD_FILE_SECONDS : seconds;
}

function idOf(bytes: Buffer, track: Box, boxes: Boxes): number {
  const [head] = boxes.at('tkhd', track);
  if (!head) return 0;
  const isLong = bytes[head.start] === 1;
  return wordAt(bytes, head.start + (isLong ? 20 : 12), head.end);
}

function listed(bytes: Buffer, track: Box, boxes: Boxes): number {
  const tables = ['stsz', 'stz2'].flatMap((type) => boxes.at(`mdia/minf/stbl/${type}`, track));
  return tables.reduce((sum, { start, end }) => sum + countAt(bytes, start + 8, end), 0);
}

/** The packets of each track in fragments, by its ID. */
function inFragments(bytes: Buffer, boxes: Boxes): Map<number, number> {
  const packets = new Map<number, number>();
  for (const fragment of boxes.at('moof/traf')) {
    const [about] = boxes.at('tfhd', fragment);
    const id = about ? wordAt(bytes, about.start + 4, about.end) : 0;
    for (const { start, end } of boxes.at('trun', fragment)) {
      packets.set(id, (packets.get(id) ?? 0) + countAt(bytes, start + 4, end));
    }
  }
  return packets;
}

function wordAt(bytes: Buffer, at: number, end: number): number {
  return at + 4 > end ? 0 : bytes.readUInt32BE(at);
}

/** There are no more packets than bytes. */
function countAt(bytes: Buffer, at: number, end: number): number {
  return Math.min(wordAt(bytes, at, end), bytes.length);
}

/** How long a packet plays at most, by the entries of the sample description. */
function packetSeconds(bytes: Buffer, { start, end }: Box, boxes: Boxes): number {
  const seconds = [...boxes.between(start + 8, end)].map((entry) => {
    if (entry.type === 'mp4a') return AAC_SAMPLES / aacRate(bytes, entry);
    if (entry.type === 'alac') return alacSeconds(bytes, entry, boxes);
    return entry.type === 'samr' || entry.type === 'sawb' ? AMR_SECONDS : LONGEST_PACKET;
  });
  return seconds.length === 0 ? LONGEST_PACKET : Math.max(...seconds);
}

/** Where the entry of sound has further boxes. */
const ENTRY_BYTES = 28;

/** By the configuration of Apple's lossless codec, which names the samples of a packet. */
function alacSeconds(bytes: Buffer, { start, end }: Box, boxes: Boxes): number {
  const config = [...boxes.between(start + ENTRY_BYTES, end)].find(({ type }) => type === 'alac');
  if (!config || config.start + 28 > config.end) return ALAC_SAMPLES / LOWEST_RATE;
  const rate = Math.max(1, bytes.readUInt32BE(config.start + 24));
  return bytes.readUInt32BE(config.start + 4) / rate;
}

const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];
const OWN_RATE = 15;

/** The lowest rate of a decoder's configuration, which the rate of its entry may contradict. */
function aacRate(bytes: Buffer, { start, end }: Box): number {
  const rates: number[] = [];
  const entry = bytes.subarray(start, end);
  for (let at = entry.indexOf('esds'); at >= 0; at = entry.indexOf('esds', at + 1)) {
    rates.push(rateIn(entry, at + 8));
  }
  return rates.length === 0 ? LOWEST_RATE : Math.min(...rates);
}

/** The rate in the descriptors at an offset. */
function rateIn(bytes: Buffer, at: number): number {
  const stream = contentOf(bytes, at, 3);
  const decoder = contentOf(bytes, stream + 3, 4);
  const config = contentOf(bytes, decoder + 13, 5);
  // No recorder writes the optional fields of a stream.
  const isPlain = bytes[stream + 2] === 0;
  if (!isPlain || !(config + 2 <= bytes.length)) return LOWEST_RATE;
  const bits = bytes.readUInt16BE(config);
  const index = (bits >> 7) & 15;
  if (index !== OWN_RATE) return AAC_RATES[index] ?? LOWEST_RATE;
  const own = config + 5 <= bytes.length ? bytes.readUIntBE(config + 1, 4) >>> 7 : 0;
  return Math.max(1, own & 0xff_ff_ff);
}

/** Where the content of a descriptor begins; NaN if none with this tag begins there. */
function contentOf(bytes: Buffer, at: number, tag: number): number {
  if (bytes[at] !== tag) return NaN;
  let start = at + 1;
  // Each byte of the length but the last has its first bit set.
  while (((bytes[start] ?? 0) & 0x80) !== 0 && start < at + 4) start += 1;
  return start + 1;
}
