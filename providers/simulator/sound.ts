import type { WireReply, WireRequest } from '../../src/core/provider.js';
import { secondsOfWav } from '../../src/lib/audio-length.js';
import { hash } from './fake-text.js';
import { document, reject, respond, textIn, type BodyFields } from './wire.js';

const RATE = 16_000;
const SAMPLE_BYTES = 2;
const HEADER_BYTES = 44;
/** One note for each character, up to some seconds of them. */
const NOTE_SAMPLES = RATE / 20;
const MAX_NOTES = 100;
const LOUDNESS = 6_000;

/**
 * The speech wire: a note for each character, the same for the same text, as WAV or as its bare
 * samples. MP3, which most clients ask for, is as long and silent.
 */
export function answerSpeech(body: BodyFields, isCut: boolean): WireReply {
  const input = textIn(body, 'input') ?? '';
  if (input === '') return reject('input', 'An input is needed.');
  const format = textIn(body, 'response_format') ?? 'mp3';
  const notes = Array.from(input).slice(0, MAX_NOTES);
  switch (format) {
    case 'wav':
      return respond(200, 'audio/wav', packets(wav(samplesOf(notes)), isCut));
    case 'pcm':
      return respond(200, 'audio/pcm', packets(samplesOf(notes), isCut));
    case 'mp3':
      return respond(200, 'audio/mpeg', packets(silentMp3(notes.length * NOTE_SAMPLES), isCut));
    default:
      return reject('response_format', 'The simulator makes mp3, wav and pcm.');
  }
}

function samplesOf(notes: readonly string[]): Buffer {
  const samples = Buffer.alloc(notes.length * NOTE_SAMPLES * SAMPLE_BYTES);
  let at = 0;
  for (const note of notes) {
    const pitch = 220 + (hash(note) % 440);
    for (let tick = 0; tick < NOTE_SAMPLES; tick += 1) {
      const value = Math.sin((2 * Math.PI * pitch * tick) / RATE);
      at = samples.writeInt16LE(Math.round(LOUDNESS * value), at);
    }
  }
  return samples;
}

/** A WAV file of 16-bit samples on one channel. */
export function wav(samples: Buffer): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(HEADER_BYTES - 8 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * SAMPLE_BYTES, 28);
  head.writeUInt16LE(SAMPLE_BYTES, 32);
  head.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** A frame of MPEG-2 layer III: 8 kbit/s at 16 kHz on one channel, all zeros behind its head. */
const FRAME_HEAD = [0xff, 0xf3, 0x18, 0xc0];
const FRAME_BYTES = 36;
const FRAME_SAMPLES = 576;

function silentMp3(samples: number): Buffer {
  const frame = Buffer.alloc(FRAME_BYTES);
  frame.set(FRAME_HEAD);
  return Buffer.concat(Array<Buffer>(Math.ceil(samples / FRAME_SAMPLES)).fill(frame));
}

const HEARD = 'The toll is paid.';
/** The fields of a segment that clients expect beside its times and its text. */
const SURE = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 1,
  no_speech_prob: 0,
};
/** The bit rate from which the length of audio follows if its header has none. */
const BYTES_PER_SECOND = 4_000;

/** The transcription wire: the same text for all audio, in words of equal length. */
export async function answerTranscription(
  { body, headers }: WireRequest,
  isCut: boolean,
): Promise<WireReply> {
  const bytes = typeof body === 'string' ? body : new Uint8Array(body ?? []);
  const form = await new Response(bytes, { headers: { ...headers } })
    .formData()
    .catch(() => new FormData());
  const file = form.get('file');
  if (!(file instanceof Blob)) return reject('file', 'A file is needed.');
  const audio = Buffer.from(await file.arrayBuffer());
  const seconds = secondsOfWav(audio) ?? audio.length / BYTES_PER_SECOND;
  const usage = { type: 'duration', seconds: Math.ceil(seconds) };
  if (form.get('response_format') !== 'verbose_json') {
    return document({ text: HEARD, usage }, isCut);
  }
  const words = HEARD.split(' ');
  const each = seconds / words.length;
  const timed = words.map((word, at) => ({ word, start: at * each, end: (at + 1) * each }));
  const hasWords = form.getAll('timestamp_granularities[]').includes('word');
  return document(
    {
      task: 'transcribe',
      language: 'english',
      duration: seconds,
      text: HEARD,
      segments: [{ id: 0, start: 0, end: seconds, text: HEARD, ...SURE }],
      ...(hasWords && { words: timed }),
      usage,
    },
    isCut,
  );
}

const PACKET_BYTES = 16 * 1024;

async function* packets(bytes: Buffer, isCut: boolean): AsyncGenerator<Uint8Array> {
  const end = isCut ? Math.floor(bytes.length / 2) : bytes.length;
  for (let at = 0; at < end; at += PACKET_BYTES) {
    yield bytes.subarray(at, Math.min(at + PACKET_BYTES, end));
  }
  if (isCut) throw new Error('The drill cut the answer.');
}
