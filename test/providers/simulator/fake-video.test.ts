import { expect } from 'chai';
import { fakeVideo } from '../../../providers/simulator/fake-video.js';
import { decode, readSequence, type Blocks, type Sequence } from '../../helpers/h264.js';
import { readMp4, type Mp4Track } from '../../helpers/mp4.js';

const FRAMES_PER_SECOND = 8;
const WHITE = '226,128,128';

function video(wanted: Partial<Parameters<typeof fakeVideo>[0]> = {}): Mp4Track {
  const standard = { seed: 7, width: 1280, height: 720, seconds: 2, audio: false };
  const [track] = readMp4(fakeVideo({ ...standard, ...wanted })).tracks;
  if (!track) throw new Error('There is no track.');
  return track;
}

function decodeAll(track: Mp4Track): { sequence: Sequence; pictures: Blocks[] } {
  const sequence = readSequence(track.entry.body);
  const pictures: Blocks[] = [];
  for (const sample of track.samples) pictures.push(decode(sample, sequence, pictures.at(-1)));
  return { sequence, pictures };
}

describe("the simulator's films", () => {
  for (const [width, height, level] of [
    [1280, 720, 31],
    [720, 1280, 31],
    [1920, 1080, 40],
    [1080, 1920, 40],
    [3840, 2160, 51],
    [2160, 3840, 51],
  ] as const) {
    it(`say that they are ${width}x${height} wherever it is said`, () => {
      const track = video({ width, height, seconds: 1 });
      expect(track).to.include({ kind: 'vide', width, height });
      expect(track.entry.type).to.equal('avc1');
      expect([track.entry.body.readUInt16BE(24), track.entry.body.readUInt16BE(26)]).to.deep.equal([
        width,
        height,
      ]);
      expect(readSequence(track.entry.body)).to.include({ width, height, level });
    });

    it(`stay small at ${width}x${height} and eight seconds`, () => {
      const longest = fakeVideo({ seed: 99, width, height, seconds: 8, audio: true });
      expect(longest.length).to.be.below(200_000);
    });
  }

  it('begin with their tables, so that a player need not have all of them', () => {
    const { brands, boxes } = readMp4(
      fakeVideo({ seed: 7, width: 1280, height: 720, seconds: 1, audio: true }),
    );
    expect(brands).to.match(/^isom/u).and.include('avc1');
    expect(boxes).to.deep.equal(['ftyp', 'moov', 'mdat']);
  });

  for (let seconds = 1; seconds <= 8; seconds += 1) {
    it(`last ${seconds} s by every clock, pictures and sound`, () => {
      const wanted = { seed: 7, width: 1280, height: 720, seconds, audio: true };
      const mp4 = readMp4(fakeVideo(wanted));
      expect(mp4.seconds).to.equal(seconds);
      const [pictures, sound] = mp4.tracks;
      expect(pictures).to.include({ kind: 'vide', seconds, samples_seconds: seconds });
      expect(pictures?.samples).to.have.length(seconds * FRAMES_PER_SECOND);
      expect(sound).to.include({ kind: 'soun', seconds, samples_seconds: seconds });
      expect(sound?.samples).to.have.length(Math.ceil((seconds * 48_000) / 1_024));
    });
  }

  it('have a silent AAC track exactly where sound is asked for', () => {
    const wanted = { seed: 7, width: 1280, height: 720, seconds: 1 };
    expect(readMp4(fakeVideo({ ...wanted, audio: false })).tracks).to.have.length(1);
    const [, sound] = readMp4(fakeVideo({ ...wanted, audio: true })).tracks;
    expect(sound?.entry.type).to.equal('mp4a');
    expect(sound?.entry.body.readUInt16BE(16)).to.equal(1);
    expect(sound?.entry.body.readUInt32BE(24)).to.equal(48_000 * 65_536);
    // AudioSpecificConfig: AAC-LC, 48,000 Hz, one channel.
    expect(sound?.entry.body.toString('hex')).to.include('05021188');
    expect(new Set(sound?.samples.map((packet) => packet.toString('hex')))).to.deep.equal(
      new Set(['00000007']),
    );
  });

  it('are constrained baseline, eight frames a second', () => {
    const sequence = readSequence(video().entry.body);
    expect(sequence).to.include({ profile: 66, constraints: 0xc0, frames_per_second: 8 });
  });

  it('can be begun at their first frame and every four seconds', () => {
    expect(video({ seconds: 8 }).keys).to.deep.equal([1, 33]);
    expect(video({ seconds: 4 }).keys).to.deep.equal([1]);
  });

  for (const [width, height] of [
    [1280, 720],
    [1080, 1920],
  ] as const) {
    it(`decode to pictures of flat blocks that change, at ${width}x${height}`, () => {
      const { pictures } = decodeAll(video({ width, height, seconds: 5 }));
      expect(new Set(pictures.map((picture) => picture.join(' '))).size).to.be.above(30);
      for (const picture of pictures) {
        const colours = new Set(picture);
        // Sky, sun, hills and bar; a colour of several values would be no flat block.
        expect(colours.size).to.be.within(9, 14);
        expect([...colours].join()).to.not.include('+');
      }
    });
  }

  it('have a bar that grows from nearly nothing to the whole', () => {
    const { sequence, pictures } = decodeAll(video({ seconds: 5 }));
    const lengths = pictures.map((picture) => picture.filter((block) => block === WHITE).length);
    expect(lengths).to.deep.equal(lengths.toSorted((a, b) => a - b));
    expect(lengths[0]).to.be.within(1, 4);
    expect(lengths.at(-1)).to.equal(sequence.columns - 2 * Math.round(sequence.columns / 20));
  });

  it('are the same for the same seed, and others for others', () => {
    const wanted = { seed: 7, width: 1280, height: 720, seconds: 1, audio: true };
    expect(fakeVideo(wanted).equals(fakeVideo(wanted))).to.equal(true);
    expect(fakeVideo({ ...wanted, seed: 8 }).equals(fakeVideo(wanted))).to.equal(false);
  });
});
