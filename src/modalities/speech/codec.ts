import type { Upstream } from '../../core/model.js';
import type { Encoded } from '../../core/provider.js';
import { hasMethods } from '../../lib/objects.js';
import type { SpeechBody } from '../../schema-types/speech.js';

/** A speech call in the gateway's own form: validated, with defaults. */
export interface SpeechCall {
  input: string;
  voice: SpeechBody['voice'];
  /** How to speak. The model reads them, so they cost like the input. */
  instructions: string | undefined;
  format: NonNullable<SpeechBody['response_format']>;
  speed: number | undefined;
  /** Passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
}

/** Encodes speech calls for one wire format; the answer is the sound itself. Pure. */
export interface SpeechCodec {
  encode(call: SpeechCall, upstream: Upstream): Encoded;
}

/** Whether an adapter's export is a speech codec. */
export function isSpeechCodec(value: unknown): value is SpeechCodec {
  return hasMethods(value, ['encode']);
}
