import { u32 } from './mp4-boxes.js';
import * as h264 from './h264.js';
import { avc1, mp4a, mux, type Sample, type Track } from './mp4.js';
import { paint, palette, type Rgb } from './scene.js';

/** The properties of a film. Width and height are in pixels, both even. */
export interface FakeVideo {
  seed: number;
  width: number;
  height: number;
  /** Whole seconds. */
  seconds: number;
  audio: boolean;
}

const FRAMES_PER_SECOND = 8;
/** A film can be begun at any of these, which are most of its bytes. */
const KEY_EVERY_FRAMES = 32;
const SHADES = 8;
/** The landscape is painted in this many cells along the longer side. */
const CELLS = 80;
const TRACK: Rgb = [40, 40, 48];
const BAR: Rgb = [245, 245, 245];

const SOUND_HZ = 48_000;
const PACKET = 1_024;
/** AAC-LC, 48,000 Hz (the fourth rate of its table), one channel. */
const SOUND_CONFIG = Buffer.from([0x11, 0x88]);
/** One packet of one channel in which nothing sounds: no band is coded. */
const SILENCE = Buffer.from([0x00, 0x00, 0x00, 0x07]);

/** A film as an MP4 file: a day passes over a landscape, and a bar shows the progress. */
export function fakeVideo(wanted: FakeVideo): Buffer {
  return mux(wanted.audio ? [pictures(wanted), silence(wanted.seconds)] : [pictures(wanted)]);
}

function pictures(wanted: FakeVideo): Track {
  const { width, height, seconds } = wanted;
  const sps = h264.sequence({ width, height, frames_per_second: FRAMES_PER_SECOND });
  const entry = avc1(width, height, sps, h264.parameters());
  const samples: Sample[] = [];
  let before: Uint8Array = new Uint8Array();
  for (let at = 0; at < seconds * FRAMES_PER_SECOND; at += 1) {
    const picture = frame(wanted, at);
    const number = at % KEY_EVERY_FRAMES;
    const is_key = number === 0;
    const slice = is_key
      ? h264.keyFrame(picture, (at / KEY_EVERY_FRAMES) % 2)
      : h264.nextFrame(picture, before, number);
    before = picture.cells;
    const data = Buffer.concat([u32(slice.length), slice]);
    samples.push({ data, duration: 1, is_key });
  }
  return { kind: 'vide', timescale: FRAMES_PER_SECOND, width, height, entry, samples };
}

/** The picture at a frame's time. Colours change with key frames alone. */
function frame({ seed, width, height, seconds }: FakeVideo, at: number): h264.Picture {
  const frames = seconds * FRAMES_PER_SECOND;
  const columns = Math.ceil(width / h264.BLOCK);
  const rows = Math.ceil(height / h264.BLOCK);
  const scale = CELLS / Math.max(columns, rows);
  const shot = {
    width: Math.ceil(columns * scale),
    height: Math.ceil(rows * scale),
    shades: SHADES,
    time: at / frames,
  };
  const small = paint(seed, shot);
  const cells = new Uint8Array(columns * rows);
  for (let y = 0; y < rows; y += 1) {
    const from = Math.floor(y * scale) * shot.width;
    for (let x = 0; x < columns; x += 1) {
      cells[y * columns + x] = small[from + Math.floor(x * scale)] ?? 0;
    }
  }
  const key_time = (at - (at % KEY_EVERY_FRAMES)) / frames;
  const painted = palette(seed, { shades: SHADES, time: key_time });
  addBar(cells, columns, painted.length, (at + 1) / frames);
  return { columns, cells, colours: [...painted, TRACK, BAR].map(colour) };
}

/** Draws how much is over, a twentieth of the width away from the sides and from the bottom. */
function addBar(cells: Uint8Array, columns: number, track: number, done: number): void {
  const rows = cells.length / columns;
  const margin = Math.round(columns / 20);
  const thick = Math.max(1, Math.round(columns / 60));
  const length = columns - 2 * margin;
  for (let y = rows - margin - thick; y < rows - margin; y += 1) {
    const start = y * columns + margin;
    cells.fill(track, start, start + length);
    cells.fill(track + 1, start, start + Math.round(length * done));
  }
}

/** By BT.709, in the range that video keeps to. */
function colour([red, green, blue]: Rgb): h264.Colour {
  const y = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
  const part = (value: number): number => Math.round(128 + 224 * value);
  return [
    Math.round(16 + 219 * y),
    part((blue / 255 - y) / 1.8556),
    part((red / 255 - y) / 1.5748),
  ];
}

/** Packets do not end with a second: the last one is cut in time. */
function silence(seconds: number): Track {
  const total = seconds * SOUND_HZ;
  const samples: Sample[] = [];
  for (let time = 0; time < total; time += PACKET) {
    samples.push({ data: SILENCE, duration: Math.min(PACKET, total - time), is_key: true });
  }
  const entry = mp4a(SOUND_HZ, 1, SOUND_CONFIG);
  return { kind: 'soun', timescale: SOUND_HZ, width: 0, height: 0, entry, samples };
}
