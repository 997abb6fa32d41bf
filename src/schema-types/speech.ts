// Made by `npm run types` from schemas/speech.schema.json.

/**
 * Body of POST /v1/audio/speech: OpenAI's own contract. Other fields are let in here and dropped
 * later unless the model passes them through.
 */
export interface SpeechBody {
  model: string;
  input: string;
  /** a voice's name, or { id } of one */
  voice:
    | string
    | {
        id: string;
      };
  instructions?: string;
  response_format?: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm';
  speed?: number;
  stream_format?: 'audio' | 'sse';
}
