import type { SpeechCodec } from '../src/modalities/speech/codec.js';
import { changedFields } from '../src/core/field-changes.js';

const FIXED = new Set(['model', 'input', 'instructions', 'response_format', 'stream_format']);

/** The speech wire. */
export const speech: SpeechCodec = {
  encode: ({ input, voice, instructions, format, speed, fields }, upstream) => {
    const original = {
      ...fields,
      voice,
      ...(instructions !== undefined && { instructions }),
      ...(speed !== undefined && { speed }),
    };
    const body = changedFields(original, upstream, FIXED);
    return { path: '', body: { ...body, model: upstream.model, input, response_format: format } };
  },
};
