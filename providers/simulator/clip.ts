import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../src/lib/package-root.js';

/** The files that `make-clips.sh` beside them makes. */
const FOLDER = join(packageRoot, 'providers/simulator/clips');

export interface Clip {
  /** 720p, 1080p or 4k. */
  resolution: string;
  /** 16:9 or 9:16. */
  aspect_ratio: string;
  /** Whole seconds, at most 8. */
  seconds: number;
  audio: boolean;
  /** Clips of different seeds have different bytes. */
  seed: number;
}

/** An MP4 file: the head of the shipped one, and as many of its fragments, of a second each. */
export async function readClip(clip: Clip): Promise<Buffer> {
  const { resolution, aspect_ratio, seconds, audio, seed } = clip;
  const name = `${resolution}-${aspect_ratio.replace(':', 'x')}-${audio ? 'audio' : 'silent'}.mp4`;
  const file = await readFile(join(FOLDER, name));
  const cut = Buffer.concat([file.subarray(0, fragmentEnd(file, seconds)), freeBox(seed)]);
  // The duration in the movie header, of which a second has 1,000 units.
  cut.writeUInt32BE(seconds * 1_000, cut.indexOf('mvhd') + 20);
  return cut;
}

/** The end of the first so many fragments: each is a box `moof` and one `mdat`. */
function fragmentEnd(file: Buffer, count: number): number {
  let at = 0;
  for (let ended = 0; ended < count;) {
    if (file.toString('latin1', at + 4, at + 8) === 'mdat') ended += 1;
    at += file.readUInt32BE(at);
  }
  return at;
}

/** A box that players skip. */
function freeBox(seed: number): Buffer {
  const box = Buffer.from('....free....', 'latin1');
  box.writeUInt32BE(box.length, 0);
  box.writeUInt32BE(seed, 8);
  return box;
}
