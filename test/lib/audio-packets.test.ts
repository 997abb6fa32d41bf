import { expect } from 'chai';
import { longestSeconds, playedSeconds } from '../../src/lib/audio-packets.js';
import {
  FLAC_BLOCK,
  mp4Aac,
  oggOpus,
  OPUS_SECONDS,
  silentFlac,
  slowWav,
  webmOpus,
} from '../helpers/sound-files.js';
import { isLinear } from '../helpers/linear-time.js';

describe('playedSeconds', () => {
  const PLAYED: [string, Buffer, number][] = [
    ['FLAC', silentFlac(300), (300 * FLAC_BLOCK) / 8_000],
    ['FLAC behind a tag', withTag(silentFlac(3)), (3 * FLAC_BLOCK) / 8_000],
    ['Opus in Ogg', oggOpus(250), 250 * OPUS_SECONDS],
    ['Opus in WebM', webmOpus(250), 250 * OPUS_SECONDS],
    ['AAC in MP4', mp4Aac(250), (250 * 1_024) / 8_000],
  ];
  for (const [name, file, seconds] of PLAYED) {
    it(`counts the packets of ${name}, whatever its header claims`, () => {
      expect(playedSeconds(file)).to.be.closeTo(seconds, 0.001);
    });
  }

  it('knows the length of each packet of Opus', () => {
    const PACKETS: [number[], number][] = [
      [[0b0000_0000, 0], 0.01],
      [[0b0001_1000, 0], 0.06],
      [[0b0110_1001, 0], 0.04],
      [[0b1110_0010, 0], 0.005],
      [[0b1111_1011, 5], 0.1],
      [[0b1111_1011, 63], 0.12],
      [[], 0.12],
    ];
    for (const [packet, seconds] of PACKETS) {
      expect(playedSeconds(webmOpus(1, Buffer.from(packet)))).to.be.closeTo(seconds, 1e-9);
    }
  });

  it('joins packets of Ogg that are longer than a part', () => {
    const packet = Buffer.alloc(700);
    packet.writeUInt8(0b0001_1000);
    expect(playedSeconds(oggOpus(3, packet))).to.be.closeTo(0.18, 1e-9);
  });

  it('finds the pages of Ogg within one that a decoder would skip', () => {
    const whole = oggOpus(100);
    const bad = Buffer.from(whole.subarray(0, 28));
    bad.writeUInt8(255, 27);
    const file = Buffer.concat([bad, whole]);
    expect(playedSeconds(file)).to.be.at.least(99 * OPUS_SECONDS);
  });

  it('is not fooled by a second header of the same stream or track', () => {
    const flac = Buffer.from(oggOpus(0));
    flac.write('\u007fFLAC', flac.indexOf('OpusHead'), 'latin1');
    expect(playedSeconds(Buffer.concat([flac, oggOpus(100)]))).to.be.at.least(99 * OPUS_SECONDS);
    const video = webmOpus(0);
    video.write('V_VP8\0', video.indexOf('A_OPUS'));
    for (const order of [
      [video, webmOpus(100)],
      [webmOpus(100), video],
    ]) {
      expect(playedSeconds(Buffer.concat(order))).to.be.at.least(99 * OPUS_SECONDS);
    }
  });

  it('takes the lowest rate that a WAV file names', () => {
    expect(longestSeconds(slowWav(3_600))).to.equal(3_600);
    const odd = Buffer.concat([slowWav(3_600).subarray(0, 36), slowWav(3_600).subarray(12)]);
    expect(longestSeconds(odd)).to.be.at.least(3_600);
  });

  it('says nothing of other files, and of those that are cut off', () => {
    for (const text of [
      '',
      'fLaC',
      'OggS',
      'ID3',
      'RIFF',
      '\u001aE\u00df\u00a3',
      '0000ftyp',
      'x',
    ]) {
      const file = Buffer.from(text, 'latin1');
      expect(playedSeconds(file), text).to.equal(undefined);
      expect(playedSeconds(Buffer.concat([file, Buffer.alloc(100)])), text).to.equal(undefined);
    }
    for (const file of [silentFlac(2), oggOpus(2), webmOpus(2), mp4Aac(2), slowWav(2)]) {
      for (let length = 0; length < file.length; length += 1) {
        expect(() => playedSeconds(file.subarray(0, length))).not.to.throw();
      }
    }
  });

  it('reads files of random bytes in linear time', () => {
    let seed = 1;
    const noise = Buffer.from(
      Array.from({ length: 200_000 }, () => (seed = (seed * 48_271) % 0x7f_ff_ff_ff) & 0xff),
    ).toString('latin1');
    for (const file of [silentFlac(1), oggOpus(1), webmOpus(1), mp4Aac(1), slowWav(1)]) {
      const read = (text: string): unknown =>
        playedSeconds(Buffer.concat([file, Buffer.from(text, 'latin1')]));
      expect(isLinear(noise, read)).to.equal(true);
    }
  });
});

function withTag(file: Buffer): Buffer {
  const tag = Buffer.alloc(10);
  tag.write('ID3\u0004');
  return Buffer.concat([tag, file]);
}
