import { expect } from 'chai';
import { wav } from '../../providers/simulator/sound.js';
import { mostSeconds, secondsOfWav, sniffAudio } from '../../src/lib/audio-length.js';

/** Samples of a second at 16 kHz, two bytes each. */
const SECOND_BYTES = 32_000;

/** [version and layer, bit rate and sampling rate] */
const FRAMES: [string, number, number][] = [
  ['MPEG-1 layer III, 128 kbit/s at 44.1 kHz', 0xfb, 0x90],
  ['MPEG-1 layer II, 192 kbit/s at 48 kHz', 0xfd, 0xa4],
  ['MPEG-1 layer I, 128 kbit/s at 32 kHz', 0xff, 0x48],
  ['MPEG-2 layer III, 8 kbit/s at 16 kHz', 0xf3, 0x18],
  ['MPEG-2.5 layer III, 16 kbit/s at 8 kHz', 0xe3, 0x28],
];

describe('the length of audio', () => {
  it('is that of the samples in a WAV file', () => {
    expect(secondsOfWav(wav(Buffer.alloc(2.5 * SECOND_BYTES)))).to.equal(2.5);
  });

  it('is that of the bytes which came, where a WAV file was written as a stream', () => {
    const file = wav(Buffer.alloc(SECOND_BYTES));
    file.writeUInt32LE(0xffff_ffff, 40);
    expect(secondsOfWav(file)).to.equal(1);
  });

  it('is not known of a WAV file that is compressed, empty, or senseless', () => {
    const compressed = wav(Buffer.alloc(SECOND_BYTES));
    compressed.writeUInt16LE(85, 20);
    const silent = wav(Buffer.alloc(SECOND_BYTES));
    silent.writeUInt16LE(0, 22);
    for (const file of [compressed, silent, wav(Buffer.alloc(0)), compressed.subarray(0, 30)]) {
      expect([secondsOfWav(file), sniffAudio(file)?.extension]).to.deep.equal([undefined, 'wav']);
    }
  });

  /** The format of `wav`, changed, as a chunk. */
  const format = (change: (chunk: Buffer) => void): Buffer => {
    const chunk = Buffer.from(wav(Buffer.alloc(0)).subarray(12, 36));
    change(chunk);
    return chunk;
  };
  const HUGE = format((chunk) => {
    chunk.writeUInt16LE(65_535, 10);
    chunk.writeUInt32LE(4_294_967_295, 12);
  });
  const sound = (): Buffer => wav(Buffer.alloc(600 * SECOND_BYTES));
  const withChunk = (at: number, chunk: Buffer): Buffer => {
    const file = sound();
    return Buffer.concat([file.subarray(0, at), chunk, file.subarray(at)]);
  };
  const odd = Buffer.from('JUNK\x01\0\0\0\0\0', 'latin1');

  for (const [forgery, file] of [
    ['a second format that plays faster', withChunk(36, HUGE)],
    ['a first format that plays faster', withChunk(12, HUGE)],
    ['a chunk of odd length, read with or without its padding', withChunk(12, odd)],
  ] as const) {
    it(`is not told by a WAV file with ${forgery}`, () => {
      expect(secondsOfWav(file)).to.equal(undefined);
    });
  }

  it('is not told by a format that no recorder writes, or that contradicts itself', () => {
    const changes: ((chunk: Buffer) => void)[] = [
      (chunk) => chunk.writeUInt16LE(65_535, 10),
      (chunk) => chunk.writeUInt32LE(4_000_000, 12),
      (chunk) => chunk.writeUInt32LE(16_001, 12),
      (chunk) => chunk.writeUInt16LE(4, 20),
      (chunk) => chunk.writeUInt16LE(256, 22),
    ];
    for (const change of changes) {
      const file = sound();
      file.set(format(change), 12);
      expect(secondsOfWav(file)).to.equal(undefined);
    }
  });

  it('counts all of a WAV file with much beside its sound, which other programs may play', () => {
    const file = sound();
    file.writeUInt32LE(32, 40);
    expect(secondsOfWav(file)).to.be.closeTo(600, 0.01);
    const tagged = Buffer.concat([wav(Buffer.alloc(SECOND_BYTES)), Buffer.from('LIST'), odd]);
    expect(secondsOfWav(tagged)).to.equal(1);
  });

  it('is that of uncompressed samples only, where a WAV file has an extended header', () => {
    for (const [code, seconds] of [
      [1, 1],
      [3, 1],
      [85, undefined],
    ] as const) {
      const head = Buffer.from(wav(Buffer.alloc(SECOND_BYTES)).subarray(0, 36));
      head.writeUInt32LE(40, 16);
      head.writeUInt16LE(0xfffe, 20);
      const more = Buffer.alloc(24);
      more.writeUInt16LE(22, 0);
      more.writeUInt16LE(code, 8);
      const data = wav(Buffer.alloc(SECOND_BYTES)).subarray(36);
      expect(secondsOfWav(Buffer.concat([head, more, data]))).to.equal(seconds);
    }
  });

  it('takes an MP3 whose tag spells WAVE for no WAV file', () => {
    const tag = Buffer.alloc(10 + 130);
    tag.write('ID3\x03\0\0\0\0WAVE', 'latin1');
    expect(sniffAudio(tag)?.extension).to.equal('mp3');
  });

  for (const [what, second, third] of FRAMES) {
    it(`is read later of MP3, which is told by its first bytes: ${what}`, () => {
      const head = Buffer.from([0xff, second, third, 0xc0]);
      expect([sniffAudio(head)?.type, secondsOfWav(head)]).to.deep.equal(['audio/mpeg', undefined]);
    });
  }

  for (const [extension, head] of [
    ['flac', 'fLaC'],
    ['ogg', 'OggS'],
    ['webm', '\x1a\x45\xdf\xa3'],
    ['m4a', '\0\0\0\x18ftypM4A '],
  ] as const) {
    it(`is not known of ${extension}, which is told by its first bytes`, () => {
      const file = Buffer.from(`${head}${'x'.repeat(20)}`, 'latin1');
      expect([sniffAudio(file)?.extension, secondsOfWav(file)]).to.deep.equal([
        extension,
        undefined,
      ]);
    });
  }

  it('is at most what its bytes can play in silence, a day at most', () => {
    const [flac, ogg] = [Buffer.from('fLaC'), Buffer.from('OggS')];
    expect(mostSeconds(flac, 1_000)).to.equal(1_000);
    expect(
      mostSeconds(Buffer.concat([ogg, Buffer.alloc(24), Buffer.from('\x7fFLAC')]), 9),
    ).to.equal(9);
    expect(mostSeconds(ogg, 1_000)).to.equal(120);
    expect(mostSeconds(ogg, 20_000_000)).to.equal(86_400);
  });

  it('takes nothing else for audio', () => {
    for (const text of ['', 'x', 'hello', '<html>', '\xff\xd8\xff\xe0', '\xff\xff\xff\xff']) {
      expect(sniffAudio(Buffer.from(text, 'latin1')), text).to.equal(undefined);
    }
  });
});
