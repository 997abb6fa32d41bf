// Made by `npm run types` from schemas/transcription.schema.json.

/**
 * Body of POST /v1/audio/transcriptions: OpenAI's own contract. Other fields are let in here and
 * dropped later unless the model passes them through.
 */
export interface TranscriptionBody {
  model: string;
  /** a file of a form, or a data: URL */
  file: string;
  language?: string;
  prompt?: string;
  response_format?: 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt';
  temperature?: number;
  timestamp_granularities?: string | ('word' | 'segment')[];
  stream?: boolean;
}
