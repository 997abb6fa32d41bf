import { inflateSync } from 'node:zlib';

export interface Png {
  width: number;
  height: number;
  /** Number of colours in its palette. */
  colours: number;
  /** Numbers of colours, row by row. */
  pixels: Buffer;
}

/** Reads an indexed PNG of 8 bits without filters, by the standard; throws where it is broken. */
export function readPng(bytes: Buffer): Png {
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('No signature.');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const said = bytes.readUInt32BE(at + 8 + length);
    if (crc(bytes.subarray(at + 4, at + 8 + length)) !== said) throw new Error(`CRC of ${type}.`);
    chunks.set(type, bytes.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  if ([...chunks.keys()].join() !== 'IHDR,PLTE,IDAT,IEND') throw new Error('Other chunks.');
  const head = chunks.get('IHDR') ?? Buffer.alloc(0);
  if (head.toString('hex', 8) !== '0803000000') throw new Error('Not indexed with 8 bits.');
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
  if (rows.length !== (width + 1) * height) throw new Error('Too few or too many pixels.');
  const lines = Array.from({ length: height }, (_, y) => {
    if (rows[y * (width + 1)] !== 0) throw new Error('A filtered row.');
    return rows.subarray(y * (width + 1) + 1, (y + 1) * (width + 1));
  });
  const colours = (chunks.get('PLTE') ?? Buffer.alloc(0)).length / 3;
  return { width, height, colours, pixels: Buffer.concat(lines) };
}

function crc(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}
