/** What the parameter sets say. */
export interface Sequence {
  profile: number;
  constraints: number;
  level: number;
  columns: number;
  rows: number;
  width: number;
  height: number;
  frames_per_second: number;
}

/** A picture: for each macroblock its brightness and colour, such as `126,128,90`. */
export type Blocks = string[];

/** Reads the fields of a NAL unit, whose protecting bytes it leaves out. */
class BitReader {
  readonly #bytes: number[];
  #at = 8;

  constructor(unit: Buffer) {
    this.#bytes = [...unit].filter(
      (byte, at) => !(byte === 3 && unit[at - 1] === 0 && unit[at - 2] === 0),
    );
  }

  bits(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      const byte = this.#bytes[this.#at >> 3];
      if (byte === undefined) throw new Error('The unit has ended.');
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }

  ue(): number {
    let zeros = 0;
    while (this.bits(1) === 0) zeros += 1;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  expect(values: readonly number[]): void {
    const read = values.map(() => this.ue());
    if (read.join() !== values.join()) throw new Error(`${read.join()}, not ${values.join()}`);
  }

  align(): void {
    while (this.#at % 8 !== 0) if (this.bits(1) !== 0) throw new Error('Alignment is not zero.');
  }

  /** Whether only the bit that ends the payload, and zeros up to the next byte, are left. */
  get isOver(): boolean {
    const end = this.#bytes.length * 8;
    if (end - this.#at > 8) return false;
    const last = this.#bytes.at(-1) ?? 0;
    return (last & (2 ** (end - this.#at) - 1)) === 2 ** (end - this.#at - 1);
  }
}

/** Reads the sequence parameter set out of an `avc1` sample entry. */
export function readSequence(entry: Buffer): Sequence {
  const unit = entry.subarray(entry.indexOf('avcC', 0, 'latin1') + 12);
  const reader = new BitReader(
    unit.subarray(0, entry.readUInt16BE(entry.length - unit.length - 2)),
  );
  const [profile, constraints, level] = [reader.bits(8), reader.bits(8), reader.bits(8)];
  reader.expect([0, 4, 2, 1]);
  reader.bits(1);
  const [columns, rows] = [reader.ue() + 1, reader.ue() + 1];
  const isCropped = reader.bits(3) === 0b111;
  const [left, right, top, bottom] = [reader.ue(), reader.ue(), reader.ue(), reader.ue()];
  const hasUsability = reader.bits(1) === 1;
  if (!isCropped || left !== 0 || top !== 0 || !hasUsability) throw new Error('Other fields.');
  reader.bits(2);
  reader.bits(1 + 3 + 1 + 1 + 24 + 1);
  if (reader.bits(1) !== 1) throw new Error('No timing.');
  const [ticks, scale] = [reader.bits(32), reader.bits(32)];
  reader.bits(5);
  if (!reader.isOver) throw new Error('The sequence parameter set has more fields.');
  const [width, height] = [columns * 16 - 2 * right, rows * 16 - 2 * bottom];
  const frames_per_second = scale / ticks / 2;
  return { profile, constraints, level, columns, rows, width, height, frames_per_second };
}

/**
 * Decodes a sample of one slice, as far as macroblocks are skipped, sampled as they are, or taken
 * from the left or from above with nothing added. Throws for all else.
 */
export function decode(sample: Buffer, { columns, rows }: Sequence, before?: Blocks): Blocks {
  const unit = sample.subarray(4);
  if (sample.readUInt32BE(0) !== unit.length) throw new Error('The length is wrong.');
  const isKey = (unit[0] ?? 0) % 32 === 5;
  const isStart = (byte: number, at: number): boolean =>
    at >= 2 && byte <= 2 && unit[at - 1] === 0 && unit[at - 2] === 0;
  if (unit.some(isStart)) throw new Error('Unprotected zeros.');
  const reader = new BitReader(unit);
  reader.expect([0, isKey ? 7 : 5, 0]);
  reader.bits(8);
  if (isKey) reader.ue();
  reader.bits(isKey ? 2 : 3);
  reader.expect([0, 1]);
  const blocks: Blocks = [];
  const raw = new Set<number>();
  while (blocks.length < columns * rows) {
    if (!isKey) {
      const end = blocks.length + reader.ue();
      blocks.push(...(before ?? []).slice(blocks.length, end));
      if (blocks.length !== end) throw new Error('More is skipped than there was.');
      if (reader.isOver) break;
    }
    blocks.push(readBlock(reader, blocks, columns, isKey ? 0 : 5, raw));
  }
  if (!reader.isOver || blocks.length !== columns * rows) throw new Error('The slice is too long.');
  return blocks;
}

function readBlock(
  reader: BitReader,
  blocks: Blocks,
  columns: number,
  first_type: number,
  raw: Set<number>,
): string {
  const at = blocks.length;
  const type = reader.ue() - first_type;
  if (type === 25) {
    reader.align();
    raw.add(at);
    const planes = [256, 64, 64].map((count) =>
      Array.from({ length: count }, () => reader.bits(8)),
    );
    return planes.map((plane) => [...new Set(plane)].join('+')).join();
  }
  const left = at % columns === 0 ? -1 : at - 1;
  const [source, chroma] = type === 2 ? [left, 1] : [at - columns, 2];
  reader.expect([chroma, 0]);
  const isBesideRaw = raw.has(left) || raw.has(at - columns);
  const none = isBesideRaw ? reader.bits(6) === 3 : reader.bits(1) === 1;
  const block = blocks[source];
  if (!none || block === undefined || (type !== 1 && type !== 2)) throw new Error('Another block.');
  return block;
}
