/** CRC-8 of FLAC's frame headers. */
function crc8(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return crc;
}

/** CRC-16 of FLAC's frames. */
function crc16(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = ((crc << 1) ^ (crc & 0x8000 ? 0x8005 : 0)) & 0xffff;
    }
  }
  return crc;
}

export const FLAC_BLOCK = 65_535;

/** Frames of silence at 8 kHz, a little more than eight seconds each, behind a lying header. */
export function silentFlac(frames: number): Buffer {
  const rate = 8_000;
  const header = Buffer.alloc(42);
  header.write('fLaC');
  header.writeUInt32BE(0x80_00_00_22, 4);
  header.writeUInt16BE(FLAC_BLOCK, 8);
  header.writeUInt16BE(FLAC_BLOCK, 10);
  // 20 bits of the rate, one channel, 16 bits a sample; one sample in all.
  header.writeUIntBE(rate << 4, 18, 3);
  header.writeUInt8(0xf0, 21);
  header.writeUInt8(1, 25);
  const made = Array.from({ length: frames }, (_, index) => {
    const number = index < 0x80 ? [index] : [0xc0 | (index >> 6), 0x80 | (index & 0x3f)];
    // 16 bits of the block's size, at 8 kHz, one channel of 16 bits.
    const head = [0xff, 0xf8, 0x74, 0x08, ...number, (FLAC_BLOCK - 1) >> 8, (FLAC_BLOCK - 1) & 255];
    const frame = [...head, crc8(head), 0, 0, 0];
    const check = crc16(frame);
    return [...frame, check >> 8, check & 0xff];
  });
  return Buffer.concat([header, Buffer.from(made.flat())]);
}

/** CRC-32 of Ogg's pages. */
function crc32(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04_c1_1d_b7 : 0);
  }
  return crc >>> 0;
}

function oggPage(at: number, packets: readonly Buffer[], granule = 0): Buffer {
  const head = Buffer.alloc(27);
  head.write('OggS');
  head.writeUInt8(at === 0 ? 2 : 0, 5);
  head.writeUInt32LE(granule, 6);
  head.writeUInt32LE(7, 14);
  head.writeUInt32LE(at, 18);
  const table = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / 255) }, () => 255),
    length % 255,
  ]);
  head.writeUInt8(table.length, 26);
  const page = Buffer.concat([head, Buffer.from(table), ...packets]);
  page.writeUInt32LE(crc32(page), 22);
  return page;
}

/** A packet of silence of Opus: three frames of 20 ms. */
export const OPUS_PACKET = Buffer.from([0x4b, 0x03, 0, 0, 0]);
export const OPUS_SECONDS = 0.06;

export function oggOpus(packets: number, packet = OPUS_PACKET): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead\u0001\u0001');
  head.writeUInt32LE(48_000, 12);
  const tags = Buffer.alloc(16);
  tags.write('OpusTags');
  const pages = Array.from({ length: Math.ceil(packets / 100) }, (_, at) =>
    oggPage(
      at + 2,
      Array.from({ length: Math.min(100, packets - 100 * at) }, () => packet),
      2_880 * 100 * (at + 1),
    ),
  );
  return Buffer.concat([oggPage(0, [head]), oggPage(1, [tags]), ...pages]);
}

function element(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = Buffer.alloc(4);
  size.writeUInt32BE((0x10_00_00_00 | body.length) >>> 0);
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

/** WebM as a browser records it: with a segment and clusters of unknown size, and no length. */
export function webmOpus(packets: number, packet = OPUS_PACKET): Buffer {
  const unknown = Buffer.from('01ffffffffffffff', 'hex');
  const entry = element(
    'ae',
    element('d7', Buffer.from([1])),
    element('83', Buffer.from([2])),
    element('86', Buffer.from('A_OPUS')),
  );
  const block = element('a3', Buffer.from([0x81, 0, 0, 0x80]), packet);
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    Buffer.from('18538067', 'hex'),
    unknown,
    element('1654ae6b', entry),
    Buffer.from('1f43b675', 'hex'),
    unknown,
    element('e7', Buffer.from([0])),
    ...Array.from({ length: packets }, () => block),
  ]);
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(type, 4);
  return Buffer.concat([head, body]);
}

const words = (...numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [at, one] of numbers.entries()) bytes.writeUInt32BE(one, 4 * at);
  return bytes;
};

/** Where the sound of an m4a file begins, whose head has always the same length. */
const MP4_SOUND_AT = 408;

/**
 * An m4a file of AAC at 8 kHz, whose header says that a packet plays for no time at all, and that
 * there are `timed` of them.
 */
export function mp4Aac(packets: number, timed = packets): Buffer {
  const config = Buffer.from([5, 2, 0x15, 0x88]);
  const decoder = Buffer.concat([Buffer.from([4, 17, 0x40, 0x15]), Buffer.alloc(11), config]);
  const stream = Buffer.concat([Buffer.from([3, decoder.length + 3, 0, 1, 0]), decoder]);
  const entry = Buffer.alloc(28);
  entry.writeUInt16BE(48_000, 24);
  const stbl = box(
    'stbl',
    box('stsd', words(0, 1), box('mp4a', entry, box('esds', words(0), stream))),
    box('stts', words(0, 1, timed, 0)),
    box('stsz', words(0, 4, packets)),
    box('stsc', words(0, 1, 1, packets, 1)),
    box('stco', words(0, 1, MP4_SOUND_AT)),
  );
  const mdia = box(
    'mdia',
    box('mdhd', words(0, 0, 0, 8_000, 1, 0)),
    box('hdlr', words(0, 0), Buffer.from('soun'), Buffer.alloc(16)),
    box('minf', stbl),
  );
  const trak = box('trak', box('tkhd', words(0, 0, 0, 1), Buffer.alloc(72)), mdia);
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A '), words(0)),
    box('moov', trak),
    box('mdat', Buffer.alloc(4 * packets)),
  ]);
}

/** An uncompressed WAV file of a sample a second. */
export function slowWav(seconds: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + seconds, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(1, 24);
  head.writeUInt32LE(1, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(seconds, 40);
  return Buffer.concat([head, Buffer.alloc(seconds, 0x80)]);
}
