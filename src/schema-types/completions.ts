// Made by `npm run types` from schemas/completions.schema.json.

/**
 * Body of POST /v1/completions, OpenAI's older contract. Other fields are let in here and dropped
 * later unless the model passes them through.
 */
export interface CompletionsBody {
  model: string;
  /** a text, or a list of one */
  prompt: string | (string | number | unknown[])[];
  stream?: boolean;
  stream_options?: {
    include_usage?: boolean;
  };
  temperature?: number;
  top_p?: number;
  max_tokens?: number;
  stop?: string | string[];
  n?: number;
  best_of?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  user?: string;
  suffix?: string;
  echo?: boolean;
  logprobs?: number | boolean;
}
