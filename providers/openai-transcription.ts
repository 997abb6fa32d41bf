import { recordsIn } from '../src/lib/objects.js';
import type { Upstream } from '../src/core/model.js';
import type { Encoded, FormPart } from '../src/core/provider.js';
import { UpstreamError } from '../src/core/upstream-error.js';
import type {
  Segment,
  TranscriptFormat,
  TranscriptionCall,
  TranscriptionCodec,
  TranscriptReply,
} from '../src/modalities/transcription/codec.js';
import { broken, checked, textOfValue } from './openai/answer.js';
import { changedFields } from '../src/core/field-changes.js';

/** Fields that only the gateway sets, as price or decoding depend on them. */
const FIXED = new Set(['model', 'file', 'response_format', 'timestamp_granularities', 'stream']);

/** The wire flags that this codec reads. */
export const wire_flags = ['verbose_transcripts'] as const;

/**
 * The transcription wire. `wire: { verbose_transcripts: [whisper] }` has the beginnings of the
 * names of models that give timestamps and the length of the audio; others give the text and its
 * tokens.
 */
export const transcription: TranscriptionCodec = { encode, decode };

function encode(call: TranscriptionCall, upstream: Upstream): Encoded {
  const { audio, kind, format, granularities, fields } = call;
  const isVerbose = givesVerbose(upstream);
  if (!isVerbose && NEEDS_TIMES.includes(format)) {
    const message = `This model gives no timestamps, so its response_format is json or text.`;
    throw new UpstreamError('unsupported', message, undefined, { param: 'response_format' });
  }
  const body = {
    ...changedFields(fields, upstream, FIXED),
    model: upstream.model,
    response_format: isVerbose ? 'verbose_json' : 'json',
    ...(format === 'verbose_json' &&
      granularities.length > 0 && { 'timestamp_granularities[]': granularities }),
  };
  const { type, extension } = kind;
  const file = { name: 'file', file: audio, filename: `audio.${extension}`, type };
  return { path: '', body, form: [...partsOfBody(body), file] };
}

const NEEDS_TIMES: readonly TranscriptFormat[] = ['verbose_json', 'srt', 'vtt'];

function givesVerbose({ model, provider }: Upstream): boolean {
  const begins: unknown = provider.wire.verbose_transcripts;
  return Array.isArray(begins) && begins.some((begin) => model.startsWith(String(begin)));
}

function partsOfBody(body: Readonly<Record<string, unknown>>): FormPart[] {
  return Object.entries(body).flatMap(([name, value]) =>
    [value].flat().map((one: unknown) => ({
      name,
      value: typeof one === 'string' ? one : JSON.stringify(one),
    })),
  );
}

function decode(body: unknown, _: TranscriptionCall, { provider }: Upstream): TranscriptReply {
  const answer = checked(body, provider);
  const { text, language, duration, segments, words } = answer;
  if (typeof text !== 'string') throw broken('The upstream gave no transcript.');
  const [usage = {}] = recordsIn([answer.usage]);
  return {
    text,
    ...(typeof language === 'string' && { language }),
    ...(Array.isArray(segments) && { segments: recordsIn(segments).flatMap(segmentIn) }),
    ...(Array.isArray(words) && { words: recordsIn(words).flatMap(wordIn) }),
    // The billed length takes precedence over the measured one.
    seconds: usage.seconds ?? duration,
    ...(duration !== undefined && { duration }),
    usage: tokensIn(usage),
  };
}

/** The fields of a segment beside its times and its text. */
const SEGMENT_FIELDS = [
  'id',
  'seek',
  'tokens',
  'temperature',
  'avg_logprob',
  'compression_ratio',
  'no_speech_prob',
];

function segmentIn(segment: Record<string, unknown>): Segment[] {
  const { start, end } = segment;
  if (typeof start !== 'number' || typeof end !== 'number') return [];
  const known = SEGMENT_FIELDS.filter((name) => segment[name] !== undefined);
  const more = Object.fromEntries(known.map((name) => [name, segment[name]]));
  return [{ ...more, start, end, text: textOfValue(segment.text) }];
}

function wordIn({ word, start, end }: Record<string, unknown>): object[] {
  return typeof word === 'string' ? [{ word, start, end }] : [];
}

/** The usage in the gateway's form; undefined if it counts no tokens. */
function tokensIn(usage: Record<string, unknown>): object | undefined {
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens } = usage;
  if (prompt_tokens === undefined) return undefined;
  const [details] = recordsIn([usage.input_token_details]);
  return { prompt_tokens, completion_tokens, ...(details && { prompt_tokens_details: details }) };
}
