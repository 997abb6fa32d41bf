import type { Upstream } from '../../core/model.js';
import type { Encoded } from '../../core/provider.js';
import type { AudioType } from '../../lib/audio-length.js';
import { hasMethods } from '../../lib/is-record.js';

/** The forms in which a client can have its transcript. */
export type TranscriptFormat = 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt';

/** A transcription call in the gateway's own words: checked, defaults filled in. */
export interface TranscriptionCall {
  /** `translate` gives English, whatever is spoken. */
  task: 'transcribe' | 'translate';
  audio: Buffer;
  kind: AudioType;
  /** How long it plays, where its own figures say so. */
  seconds: number | undefined;
  /** What the client wants to see; the upstream may be asked for another. */
  format: TranscriptFormat;
  /** Timestamps that a `verbose_json` is to have. */
  granularities: readonly string[];
  /** `language`, `prompt`, `temperature` and passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
}

/** A stretch of a transcript, in seconds from the beginning. */
export interface Segment extends Readonly<Record<string, unknown>> {
  start: number;
  end: number;
  text: string;
}

export interface TranscriptReply {
  text: string;
  language?: string;
  /** Undefined where the upstream gives none. */
  segments?: readonly Segment[];
  words?: readonly object[];
  /** How long the audio plays, as the upstream says it. */
  seconds: unknown;
  /** Token usage as the upstream says it, an `UpstreamUsage`; undefined without any. */
  usage: unknown;
}

/** How one wire format says transcription. Pure, like `ChatCodec`; throws `UpstreamError`. */
export interface TranscriptionCodec {
  encode(call: TranscriptionCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: TranscriptionCall, upstream: Upstream): TranscriptReply;
}

/** Whether an adapter's export is a transcription codec. */
export function isTranscriptionCodec(value: unknown): value is TranscriptionCodec {
  return hasMethods(value, ['encode', 'decode']);
}
