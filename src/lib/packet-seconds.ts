/** The length of a file that takes too many steps to measure. */
export const ODD_FILE_SECONDS = 86_400;

/** As many packets as many hours of sound have. More would take the time of other requests. */
const MAX_STEPS = 400_000;

/** Counts the steps through a file, since parts of a file may be made to lie over each other. */
export class StepLimit {
  #left = MAX_STEPS;

  /** Whether there were too many. */
  get isOver(): boolean {
    return this.#left < 0;
  }

  /** Takes a step. False if it is one too many. */
  take(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}

/** Seconds of a packet, which begins at an offset. */
export type PacketSeconds = (bytes: Buffer, at: number, length: number) => number;

/** The longest packet of Opus; packets of unknown codecs count as long. */
export const LONGEST_PACKET = 0.12;
const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/** A packet of Opus tells its length in its first two bytes (RFC 6716, section 3.1). */
export const opusSeconds: PacketSeconds = (bytes, at, length) => {
  if (length === 0) return LONGEST_PACKET;
  const toc = bytes[at] ?? 0;
  const config = toc >> 3;
  const ms =
    (config < 12
      ? SILK_MS[config & 3]
      : config < 16
        ? HYBRID_MS[config & 1]
        : CELT_MS[config & 3]) ?? 0;
  const code = toc & 3;
  const counted = length > 1 ? (bytes[at + 1] ?? 0) & 63 : 0;
  const frames = code === 0 ? 1 : code === 3 ? counted : 2;
  return Math.min(LONGEST_PACKET, (frames * ms) / 1_000);
};

export const unknownSeconds: PacketSeconds = () => LONGEST_PACKET;

const MOST_VORBIS_SAMPLES = 8_192;

/** Packets of Vorbis, by the identification header at an offset. */
export function vorbisAt(bytes: Buffer, at: number): PacketSeconds {
  if (at + 30 > bytes.length) return unknownSeconds;
  const rate = Math.max(1, bytes.readUInt32LE(at + 12));
  const samples = Math.min(MOST_VORBIS_SAMPLES, 2 ** ((bytes[at + 28] ?? 0) >> 4));
  // Headers have an odd first byte.
  return (_, start) => ((bytes[start] ?? 1) % 2 === 1 ? 0 : samples / 2 / rate);
}
