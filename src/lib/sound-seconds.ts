import {
  ALL_FORMATS,
  BufferSource,
  EncodedPacketSink,
  Input,
  type EncodedPacket,
  type InputTrack,
} from 'mediabunny';

/** Formats in which the packets themselves tell how long they play. */
const TOLD_BY_PACKETS = ['Ogg', 'FLAC', 'MP3', 'WAVE', 'ADTS'];
/** What may stand around a packet, and beside all of them, such as tables and tags. */
const AROUND_BYTES = 32;
const [LEAST_BESIDE_BYTES, MOST_BESIDE_BYTES] = [4 * 1024, 64 * 1024];
const BESIDE_SHARE = 0.1;
/** The longest packet of Opus, and of most other codecs. */
const LONGEST_PACKET = 0.12;
const AAC_SAMPLES = 1_024;
const MOST_FLAC_SAMPLES = 65_535;

/**
 * The seconds that the sound of a file plays, by its packets: the length in a header may be forged,
 * and silence takes next to no bytes. 0 if there is none. Throws if it cannot be read, or if its
 * packets are only a part of the file, as another program may then find more of them.
 */
export async function secondsOfSound(file: Uint8Array): Promise<number> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(file) });
  const tracks = await input.getTracks().catch(() => []);
  if (tracks.length === 0) return nothing(file);
  const { name } = await input.getFormat();
  const isTold = TOLD_BY_PACKETS.includes(name);
  let seconds = 0;
  let read_bytes = await imageBytes(input);
  for (const track of tracks) {
    const least = track.isAudioTrack() ? await leastSeconds(track, isTold) : () => 0;
    const options = { metadataOnly: track.codec !== 'opus' || isTold };
    for await (const packet of new EncodedPacketSink(track).packets(
      undefined,
      undefined,
      options,
    )) {
      if (track.isAudioTrack()) seconds += Math.max(packet.duration, least(packet));
      read_bytes += packet.byteLength + AROUND_BYTES;
    }
  }
  const share = Math.min(file.length * BESIDE_SHARE, MOST_BESIDE_BYTES);
  const beside_bytes = Math.max(share, LEAST_BESIDE_BYTES);
  if (read_bytes + beside_bytes < file.length) throw new Error('Most of it is not known.');
  if (!(seconds > 0)) throw new Error('It has no sound.');
  return seconds;
}

/** How files of sound begin, and what each has near its beginning. */
const MARKS = ['OggS', 'OpusHead', 'fLaC', 'ftyp', 'moov', '\u001aE\u00df\u00a3'];
const OWN_MARK_BYTES = 8;

/** A file without tracks has no sound, unless another program may find a file within it. */
function nothing(file: Uint8Array): 0 {
  const within = Buffer.from(file.buffer, file.byteOffset, file.length).subarray(OWN_MARK_BYTES);
  if (MARKS.some((mark) => within.includes(mark, 0, 'latin1'))) throw new Error('It is odd.');
  return 0;
}

/** Cover images, which players show and no decoder of sound reads. */
async function imageBytes(input: Input): Promise<number> {
  const { images = [] } = await input.getMetadataTags();
  return images.reduce((sum, { data }) => sum + data.length, 0);
}

/** How long a packet plays at the least, whatever time its container gives it. */
async function leastSeconds(
  track: InputTrack,
  isTold: boolean,
): Promise<(packet: EncodedPacket) => number> {
  if (isTold || !track.isAudioTrack()) return () => 0;
  const { codec } = track;
  const config = await track.getDecoderConfig();
  const rate = Math.max(1, config?.sampleRate ?? 1);
  if (codec === 'opus') return ({ data }) => opusSeconds(data);
  if (codec === 'aac') return () => AAC_SAMPLES / rate;
  if (codec === 'flac') return () => MOST_FLAC_SAMPLES / rate;
  if (codec?.startsWith('pcm-') || codec === 'ulaw' || codec === 'alaw') {
    return ({ byteLength }) => byteLength / rate / (config?.numberOfChannels ?? 1);
  }
  return () => LONGEST_PACKET;
}

const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/** A packet of Opus tells its length in its first two bytes (RFC 6716, section 3.1). */
function opusSeconds([toc = 0, counted = 0]: Uint8Array): number {
  const config = toc >> 3;
  const lengths = config < 12 ? SILK_MS : config < 16 ? HYBRID_MS : CELT_MS;
  const code = toc & 3;
  const frames = code === 0 ? 1 : code === 3 ? counted & 63 : 2;
  return Math.min(LONGEST_PACKET, (frames * (lengths[config % lengths.length] ?? 0)) / 1_000);
}
