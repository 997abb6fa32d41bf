import { box, full, u16, u32, u8, zeros } from './mp4-boxes.js';

/** One picture, or one packet of sound. */
export interface Sample {
  data: Uint8Array;
  /** In the time scale of its track. */
  duration: number;
  /** Whether a player can begin here. */
  is_key: boolean;
}

export interface Track {
  kind: 'vide' | 'soun';
  /** Units a second. */
  timescale: number;
  /** Pixels; 0 for sound. */
  width: number;
  height: number;
  /** The box that describes the coding of its samples. */
  entry: Buffer;
  samples: readonly Sample[];
}

/** Samples that lie together in the file: those of one track that begin within one second. */
interface Chunk {
  samples: Sample[];
  offset: number;
}

const MOVIE_TIMESCALE = 1_000;
/** 1 in the fixed-point numbers of rates, of volumes and of a matrix that turns nothing. */
const ONE = 0x10000;
const MATRIX = u32(ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000);
const FULL_VOLUME = 0x0100;
/** "und", undetermined, five bits a letter. */
const NO_LANGUAGE = 0x55c4;

/** An MP4 file that can be played while it is still coming: tables first, then all samples. */
export function mux(tracks: readonly Track[]): Buffer {
  const chunked = tracks.map((track) => chunksOf(track));
  const type = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'));
  // All offsets have the same length, so the length of the tables is known before the offsets.
  place(chunked, 0);
  const head = type.length + movie(tracks, chunked).length;
  const samples = place(chunked, head + 8);
  return Buffer.concat([type, movie(tracks, chunked), box('mdat', ...samples)]);
}

function chunksOf({ samples, timescale }: Track): Chunk[] {
  const chunks: Chunk[] = [];
  let time = 0;
  for (const sample of samples) {
    const chunk = (chunks[Math.floor(time / timescale)] ??= { samples: [], offset: 0 });
    chunk.samples.push(sample);
    time += sample.duration;
  }
  return chunks;
}

/** Lays the chunks out from an offset on, second by second, and gives their samples in order. */
function place(chunked: readonly Chunk[][], start: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let offset = start;
  const seconds = Math.max(...chunked.map(({ length }) => length));
  for (let second = 0; second < seconds; second += 1) {
    for (const chunks of chunked) {
      const chunk = chunks[second];
      if (!chunk) continue;
      chunk.offset = offset;
      for (const { data } of chunk.samples) {
        parts.push(data);
        offset += data.length;
      }
    }
  }
  return parts;
}

function movie(tracks: readonly Track[], chunked: readonly Chunk[][]): Buffer {
  const lasts = Math.max(...tracks.map(movieDuration));
  const times = u32(0, 0, MOVIE_TIMESCALE, lasts, ONE);
  const rest = [zeros(10), MATRIX, zeros(24), u32(tracks.length + 1)];
  const header = full('mvhd', 0, times, u16(FULL_VOLUME), ...rest);
  const traks = tracks.map((track, at) => trak(track, chunked[at] ?? [], at + 1));
  return box('moov', header, ...traks);
}

function trak(track: Track, chunks: readonly Chunk[], id: number): Buffer {
  const { kind, timescale, width, height } = track;
  const isSound = kind === 'soun';
  const isEnabledInMovie = 3;
  const volume = u16(0, 0, isSound ? FULL_VOLUME : 0, 0);
  const ids = [u32(0, 0, id, 0, movieDuration(track)), zeros(8)];
  const size = u32(width * ONE, height * ONE);
  const header = full('tkhd', isEnabledInMovie, ...ids, volume, MATRIX, size);
  const times = u32(0, 0, timescale, duration(track));
  const name = Buffer.from(isSound ? 'Sound\0' : 'Video\0');
  const handler = full('hdlr', 0, u32(0), Buffer.from(kind), zeros(12), name);
  const kindHeader = isSound ? full('smhd', 0, zeros(4)) : full('vmhd', 1, zeros(8));
  const isInThisFile = 1;
  const data = box('dinf', full('dref', 0, u32(1), full('url ', isInThisFile)));
  return box(
    'trak',
    header,
    box(
      'mdia',
      full('mdhd', 0, times, u16(NO_LANGUAGE, 0)),
      handler,
      box('minf', kindHeader, data, tables(track, chunks)),
    ),
  );
}

function tables({ entry, samples }: Track, chunks: readonly Chunk[]): Buffer {
  const keys = samples.flatMap(({ is_key: isKey }, at) => (isKey ? [at + 1] : []));
  const lengths = runs(chunks.map((chunk) => chunk.samples.length));
  const firsts = lengths.map(({ value, start }) => u32(start + 1, value, 1));
  const times = runs(samples.map((sample) => sample.duration));
  return box(
    'stbl',
    full('stsd', 0, u32(1), entry),
    full('stts', 0, u32(times.length), ...times.map(({ value, count }) => u32(count, value))),
    ...(keys.length === samples.length ? [] : [full('stss', 0, u32(keys.length, ...keys))]),
    full('stsc', 0, u32(firsts.length), ...firsts),
    full('stsz', 0, u32(0, samples.length, ...samples.map(({ data }) => data.length))),
    full('stco', 0, u32(chunks.length, ...chunks.map(({ offset }) => offset))),
  );
}

/** Equal values that follow each other, as one. */
function runs(values: readonly number[]): { value: number; start: number; count: number }[] {
  const found: { value: number; start: number; count: number }[] = [];
  for (const [start, value] of values.entries()) {
    const last = found.at(-1);
    if (last?.value === value) last.count += 1;
    else found.push({ value, start, count: 1 });
  }
  return found;
}

function duration({ samples }: Track): number {
  return samples.reduce((sum, sample) => sum + sample.duration, 0);
}

function movieDuration(track: Track): number {
  return Math.ceil((duration(track) * MOVIE_TIMESCALE) / track.timescale);
}

/** The sample entry of H.264 video, from its parameter sets. */
export function avc1(width: number, height: number, sps: Buffer, pps: Buffer): Buffer {
  const [, profile = 0, constraints = 0, level = 0] = sps;
  const dots_per_inch = 72 * ONE;
  const bytesOfLengths = 0xfc | 3;
  const sets = [u8(0xe0 | 1), u16(sps.length), sps, u8(1), u16(pps.length), pps];
  const decoder = box('avcC', u8(1, profile, constraints, level, bytesOfLengths), ...sets);
  const size = [u16(width, height), u32(dots_per_inch, dots_per_inch, 0)];
  return box('avc1', entryHead(), zeros(16), ...size, u16(1), zeros(32), u16(24, 0xffff), decoder);
}

/** The sample entry of AAC sound, from its AudioSpecificConfig. */
export function mp4a(samples_per_second: number, channels: number, config: Buffer): Buffer {
  const specific = descriptor(5, config);
  const isAudioOfMpeg4 = u8(0x40, 0x15);
  const decoder = descriptor(4, isAudioOfMpeg4, zeros(11), specific);
  const stream = descriptor(3, u16(0), u8(0), decoder, descriptor(6, u8(2)));
  const format = [u16(channels, 16), zeros(4), u32(samples_per_second * ONE)];
  return box('mp4a', entryHead(), zeros(8), ...format, full('esds', 0, stream));
}

function entryHead(): Buffer {
  return Buffer.concat([zeros(6), u16(1)]);
}

function descriptor(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u8(tag, body.length), body]);
}
