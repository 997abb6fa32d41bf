import type { Upstream } from '../../core/model.js';
import type { Encoded } from '../../core/provider.js';
import type { AudioType } from '../../lib/audio-length.js';
import { hasMethods } from '../../lib/objects.js';

/** The formats of a transcript. */
export type TranscriptFormat = 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt';

/** A transcription call in the gateway's own form: validated, with defaults. */
export interface TranscriptionCall {
  /** `translate` gives English, whatever is spoken. */
  task: 'transcribe' | 'translate';
  audio: Buffer;
  kind: AudioType;
  /** Its length, if its header has it. */
  seconds: number | undefined;
  /** Without that, the seconds of its packets. */
  played_seconds?: number | undefined;
  /** Set if neither could be read. */
  is_unread?: true;
  /** The format for the client. The upstream may get another one. */
  format: TranscriptFormat;
  /** The timestamps of a `verbose_json`. */
  granularities: readonly string[];
  /** `language`, `prompt`, `temperature` and passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
}

/** A part of a transcript, in seconds from the beginning. */
export interface Segment extends Readonly<Record<string, unknown>> {
  start: number;
  end: number;
  text: string;
}

export interface TranscriptReply {
  text: string;
  language?: string;
  /** Undefined if the upstream gives none. */
  segments?: readonly Segment[];
  words?: readonly object[];
  /** The length of the audio that the upstream bills. */
  seconds: unknown;
  /** The length that it has measured, if it reports that too. */
  duration?: unknown;
  /** Token usage as the upstream reports it, an `UpstreamUsage`; undefined without any. */
  usage: unknown;
}

/** Translates transcription to one wire format. Pure, like `ChatCodec`; throws `UpstreamError`. */
export interface TranscriptionCodec {
  encode(call: TranscriptionCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: TranscriptionCall, upstream: Upstream): TranscriptReply;
}

/** Whether an adapter's export is a transcription codec. */
export function isTranscriptionCodec(value: unknown): value is TranscriptionCodec {
  return hasMethods(value, ['encode', 'decode']);
}
