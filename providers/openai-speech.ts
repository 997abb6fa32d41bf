import type { SpeechCodec } from '../src/modalities/speech/codec.js';
import { changed } from './openai/changes.js';

const FIXED = ['model', 'input', 'instructions', 'response_format', 'stream_format'];

/** The speech wire. */
export const speech: SpeechCodec = {
  encode: ({ input, voice, instructions, format, speed, fields }, upstream) => {
    const original = {
      ...fields,
      voice,
      ...(instructions !== undefined && { instructions }),
      ...(speed !== undefined && { speed }),
    };
    const body = changed(original, upstream, FIXED);
    return { path: '', body: { ...body, model: upstream.model, input, response_format: format } };
  },
};
