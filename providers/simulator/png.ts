import { constants, crc32, deflate } from 'node:zlib';
import { paint, palette } from './scene.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS = 8;
const INDEXED_COLOUR = 3;
const SHADES = 64;

/** A landscape as a PNG of exactly this size: the same one for the same seed. */
export async function png(seed: number, width: number, height: number): Promise<Buffer> {
  const shot = { width, height, shades: SHADES, time: 0.15 + ((seed >>> 9) % 70) / 100 };
  const pixels = paint(seed, shot);
  // Each row is led by the number of its filter: 0, for none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  const data = await squeeze(rows);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([BITS, INDEXED_COLOUR], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette(seed, shot).flat())),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** Off the event loop: a large image takes a while. */
function squeeze(rows: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    deflate(rows, { level: constants.Z_BEST_SPEED }, (error, data) => {
      if (error) reject(error);
      else resolve(data);
    });
  });
}
