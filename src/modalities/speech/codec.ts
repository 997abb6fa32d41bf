import type { Upstream } from '../../core/model.js';
import type { Encoded } from '../../core/provider.js';
import { hasMethods } from '../../lib/is-record.js';
import type { SpeechBody } from '../../schema-types/speech.js';

/** A speech call in the gateway's own words: checked, defaults filled in. */
export interface SpeechCall {
  input: string;
  voice: SpeechBody['voice'];
  /** How to speak; read by the model, so it costs like the input. */
  instructions: string | undefined;
  format: NonNullable<SpeechBody['response_format']>;
  speed: number | undefined;
  /** Passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
}

/** How one wire format asks for speech; the answer is the sound itself. Pure, like `ChatCodec`. */
export interface SpeechCodec {
  encode(call: SpeechCall, upstream: Upstream): Encoded;
}

/** Whether an adapter's export is a speech codec. */
export function isSpeechCodec(value: unknown): value is SpeechCodec {
  return hasMethods(value, ['encode']);
}
