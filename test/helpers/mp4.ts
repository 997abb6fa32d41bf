/** What a track says of itself, and its samples as the tables say they lie. */
export interface Mp4Track {
  kind: string;
  /** Seconds, by the track's own clock and by the sum of its samples. */
  seconds: number;
  samples_seconds: number;
  width: number;
  height: number;
  /** The sample entry's box, without its length and type. */
  entry: { type: string; body: Buffer };
  samples: Buffer[];
  /** Numbers of samples where a player can begin; undefined where it can at all. */
  keys: number[] | undefined;
}

export interface Mp4 {
  brands: string;
  /** Types of the boxes of the file, in order. */
  boxes: string[];
  seconds: number;
  tracks: Mp4Track[];
}

interface Box {
  type: string;
  body: Buffer;
  /** Where its body begins in the file. */
  offset: number;
}

const FULL_BOX = 4;

/** Reads an MP4 file by the standard. Throws where a sample lies outside of `mdat`. */
export function readMp4(file: Buffer): Mp4 {
  const boxes = boxesIn(file, 0);
  const movie = boxesIn(find(boxes, 'moov').body, 0);
  const header = find(movie, 'mvhd').body;
  return {
    brands: find(boxes, 'ftyp').body.toString('latin1'),
    boxes: boxes.map(({ type }) => type),
    seconds: header.readUInt32BE(16) / header.readUInt32BE(12),
    tracks: movie
      .filter(({ type }) => type === 'trak')
      .map(({ body }) => readTrack(body, file, find(boxes, 'mdat'))),
  };
}

function readTrack(body: Buffer, file: Buffer, data: Box): Mp4Track {
  const track = boxesIn(body, 0);
  const media = boxesIn(find(track, 'mdia').body, 0);
  const table = boxesIn(find(boxesIn(find(media, 'minf').body, 0), 'stbl').body, 0);
  const clock = find(media, 'mdhd').body;
  const timescale = clock.readUInt32BE(12);
  const size = find(track, 'tkhd').body;
  const [entry] = boxesIn(find(table, 'stsd').body, 8);
  if (!entry) throw new Error('No sample entry.');
  const times = rowsOf(table, 'stts', 2);
  const keys = table.some(({ type }) => type === 'stss') ? rowsOf(table, 'stss', 1) : undefined;
  return {
    kind: find(media, 'hdlr').body.toString('latin1', 8, 12),
    seconds: clock.readUInt32BE(16) / timescale,
    samples_seconds:
      times.reduce((sum, [count = 0, time = 0]) => sum + count * time, 0) / timescale,
    width: size.readUInt32BE(76) / 65_536,
    height: size.readUInt32BE(80) / 65_536,
    entry: { type: entry.type, body: entry.body },
    samples: readSamples(table, file, data),
    keys: keys?.map(([number = 0]) => number),
  };
}

function readSamples(table: readonly Box[], file: Buffer, data: Box): Buffer[] {
  const lengths = rowsOf(table, 'stsz', 1).slice(1).flat();
  const groups = rowsOf(table, 'stsc', 3);
  const samples: Buffer[] = [];
  for (const [at, [offset = 0]] of rowsOf(table, 'stco', 1).entries()) {
    const [, count = 0] = groups.findLast(([first = 0]) => first <= at + 1) ?? [];
    let place = offset;
    for (const length of lengths.slice(samples.length, samples.length + count)) {
      if (place < data.offset || place + length > data.offset + data.body.length) {
        throw new Error('A sample lies outside.');
      }
      samples.push(file.subarray(place, place + length));
      place += length;
    }
  }
  if (samples.length !== lengths.length) throw new Error('Samples without a chunk.');
  return samples;
}

/** The rows of a table: a count first, then as many rows of so many numbers. */
function rowsOf(table: readonly Box[], type: string, columns: number): number[][] {
  const { body } = find(table, type);
  const numbers = Array.from({ length: body.length / 4 - 1 }, (_, at) =>
    body.readUInt32BE(FULL_BOX + at * 4),
  );
  const rows = numbers.slice(1).reduce<number[][]>((done, number, at) => {
    if (at % columns === 0) done.push([]);
    done.at(-1)?.push(number);
    return done;
  }, []);
  // The table of sizes has one number more before its count: the size that all have, or 0.
  const count = type === 'stsz' ? (rows[0]?.[0] ?? 0) + 1 : numbers[0];
  if (rows.length !== count) throw new Error(`The count of ${type} is wrong.`);
  return rows;
}

function boxesIn(bytes: Buffer, start: number): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    if (length < 8 || at + length > bytes.length)
      throw new Error('A box is longer than its place.');
    const type = bytes.toString('latin1', at + 4, at + 8);
    boxes.push({ type, body: bytes.subarray(at + 8, at + length), offset: at + 8 });
    at += length;
  }
  return boxes;
}

function find(boxes: readonly Box[], type: string): Box {
  const found = boxes.find((box) => box.type === type);
  if (!found) throw new Error(`There is no ${type}.`);
  return found;
}
