import { secondsOf } from './audio-length.js';
import { flacSeconds } from './flac-frames.js';
import { mp4Seconds } from './mp4-samples.js';
import { oggSeconds } from './ogg-packets.js';
import { ODD_FILE_SECONDS, StepLimit } from './packet-seconds.js';
import { webmSeconds } from './webm-blocks.js';

const HEAD_BYTES = 12;
const READERS: readonly [mark: RegExp, read: (bytes: Buffer) => number][] = [
  // Programs find FLAC behind a tag too.
  [/^(?:fLaC|ID3)/u, flacSeconds],
  [/^OggS/u, oggSeconds],
  [/^[^]E\u00df\u00a3/u, webmSeconds],
  [/^[^]{4}ftyp/u, mp4Seconds],
  [/^(?:RIFF|RF64)/u, slowestWavSeconds],
];

/**
 * The seconds that a decoder makes of a compressed file, counted by its packets, since the length
 * in its header may be forged, and silence takes next to no bytes. At least the true length, and
 * longer for what programs could read in two ways, though a day at most. Undefined for a file of
 * another kind.
 */
export function playedSeconds(bytes: Buffer): number | undefined {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const read = READERS.find(([mark]) => mark.test(head))?.[1];
  const seconds = read?.(bytes) ?? 0;
  return seconds > 0 ? Math.min(seconds, ODD_FILE_SECONDS) : undefined;
}

/** The longest that the file may play by its headers or its packets; 0 if they do not tell. */
export function longestSeconds(bytes: Buffer): number {
  return secondsOf(bytes) ?? playedSeconds(bytes) ?? 0;
}

const USUAL_RATE = 8_000;

/**
 * A sample takes a bit at least, whatever compresses it, at the lowest rate that the file names. 0
 * if that is no lower than a telephone's.
 */
function slowestWavSeconds(bytes: Buffer): number {
  const steps = new StepLimit();
  let rate = Infinity;
  for (let at = bytes.indexOf('fmt '); at >= 0; at = bytes.indexOf('fmt ', at + 1)) {
    if (!steps.take()) return ODD_FILE_SECONDS;
    if (at + 16 <= bytes.length) rate = Math.min(rate, Math.max(1, bytes.readUInt32LE(at + 12)));
  }
  return rate < USUAL_RATE ? (bytes.length * 8) / rate : 0;
}
