import { BitWriter, nal } from './bits.js';

/** Pixels along the side of a macroblock, the square that a picture is coded in. */
export const BLOCK = 16;

/** Brightness and two differences of colour, each 16 to 240, by BT.709. */
export type Colour = readonly [y: number, cb: number, cr: number];

/** A picture of macroblocks that have one colour each. */
export interface Picture {
  columns: number;
  /** Numbers of colours, row by row. */
  cells: Uint8Array;
  colours: readonly Colour[];
}

/** The parameter sets that a decoder needs before the first picture. */
export interface Stream {
  width: number;
  height: number;
  frames_per_second: number;
}

/** As in the standard's table A-1: the largest frames that a level has, in macroblocks. */
const LEVELS = [
  { level: 31, blocks: 3_600 },
  { level: 40, blocks: 8_192 },
  { level: 51, blocks: 36_864 },
];
const CONSTRAINED_BASELINE = [66, 0xc0];
const BT709 = 1;
const SPS = 0x67;
const PPS = 0x68;
const KEY_SLICE = 0x65;
const SLICE = 0x41;
const KEY_SLICE_TYPE = 7;
const SLICE_TYPE = 5;
const FRAME_NUMBER_BITS = 8;
/** Macroblock types of intra slices; in the others they stand after five more. */
const UP = 1;
const LEFT = 2;
const PCM = 25;
const INTRA_IN_SLICE = 5;

/** The sequence parameter set: constrained baseline, cropped to the exact size. */
export function sequence({ width, height, frames_per_second }: Stream): Buffer {
  const columns = Math.ceil(width / BLOCK);
  const rows = Math.ceil(height / BLOCK);
  const fits = LEVELS.find(({ blocks }) => columns * rows <= blocks);
  if (!fits) throw new RangeError('A video is larger than any level allows.');
  const writer = new BitWriter();
  for (const byte of [...CONSTRAINED_BASELINE, fits.level]) writer.bits(byte, 8);
  // Its number; bits of frame numbers; output in order of decoding; one reference, without gaps.
  writer.ue(0, FRAME_NUMBER_BITS - 4, 2, 1).bits(0, 1);
  // Frames, not fields, of this size, less what is cropped on the right and below in chroma pixels.
  writer.ue(columns - 1, rows - 1).bits(0b111, 3);
  writer.ue(0, (columns * BLOCK - width) / 2, 0, (rows * BLOCK - height) / 2);
  // Its usability information: of all the parts only the colours' meaning and the timing.
  writer.bits(0b1001, 4).bits(5, 3).bits(0b01, 2).bits(BT709, 8).bits(BT709, 8).bits(BT709, 8);
  // The time scale counts fields, two to a frame.
  writer
    .bits(0b01, 2)
    .bits(0, 16)
    .bits(1, 16)
    .bits(0, 16)
    .bits(2 * frames_per_second, 16);
  writer.bits(0b10000, 5);
  return nal(SPS, writer.end());
}

/** The picture parameter set: CAVLC, one slice group, one reference. */
export function parameters(): Buffer {
  const writer = new BitWriter();
  writer.ue(0, 0).bits(0b00, 2).ue(0, 0, 0).bits(0b000, 3).ue(0, 0, 0);
  // Slices may turn the deblocking filter off, so that flat blocks stay unchanged.
  return nal(PPS, writer.bits(0b100, 3).end());
}

/** A picture that stands for itself; two in a row need different numbers. */
export function keyFrame(picture: Picture, number: number): Buffer {
  const writer = new BitWriter();
  writer.ue(0, KEY_SLICE_TYPE, 0).bits(0, FRAME_NUMBER_BITS).ue(number);
  // Kept as a plain reference, coded at the standard quality, not smoothed.
  writer.bits(0b00, 2).ue(0, 1);
  const raw = new Set<number>();
  for (let at = 0; at < picture.cells.length; at += 1) block(writer, picture, at, 0, raw);
  return nal(KEY_SLICE, writer.end());
}

/** A picture that differs from the one before in few macroblocks; `number` counts from the key. */
export function nextFrame(picture: Picture, before: Uint8Array, number: number): Buffer {
  const writer = new BitWriter();
  writer.ue(0, SLICE_TYPE, 0).bits(number, FRAME_NUMBER_BITS);
  // The references as they come, kept as usual; the standard quality, not smoothed.
  writer.bits(0b000, 3).ue(0, 1);
  const raw = new Set<number>();
  let skipped = 0;
  // By index: an iterator would make a new pair for each of two million macroblocks.
  for (let at = 0; at < picture.cells.length; at += 1) {
    if (picture.cells[at] === before[at]) {
      skipped += 1;
      continue;
    }
    writer.ue(skipped);
    skipped = 0;
    block(writer, picture, at, INTRA_IN_SLICE, raw);
  }
  if (skipped > 0) writer.ue(skipped);
  return nal(SLICE, writer.end());
}

/**
 * Writes one macroblock: predicted from a neighbour of the same colour if there is one, else as raw
 * samples. `raw` has the positions of raw blocks, on which the codes of their neighbours depend.
 */
function block(
  writer: BitWriter,
  { columns, cells, colours }: Picture,
  at: number,
  first_type: number,
  raw: Set<number>,
): void {
  const left = at % columns === 0 ? -1 : at - 1;
  const up = at - columns;
  const isLeft = cells[left] === cells[at];
  if (!isLeft && cells[up] !== cells[at]) {
    raw.add(at);
    writer.ue(first_type + PCM).align(samples(colours[cells[at] ?? 0] ?? [16, 128, 128]));
    return;
  }
  // The direction for brightness, the same for colours, which are numbered otherwise, no change of
  // quality, and the code for "nothing is added": it is longer beside blocks full of samples.
  writer.ue(first_type + (isLeft ? LEFT : UP), isLeft ? 1 : 2, 0);
  if (raw.has(left) || raw.has(up)) writer.bits(0b000011, 6);
  else writer.bits(1, 1);
}

function samples([y, cb, cr]: Colour): Uint8Array {
  const bytes = new Uint8Array(BLOCK * BLOCK * 1.5).fill(y, 0, 256);
  return bytes.fill(cb, 256, 320).fill(cr, 320);
}
