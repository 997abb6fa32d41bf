// Made by `npm run types` from schemas/embedding.schema.json.

/**
 * Body of POST /v1/embeddings. Other fields are let in here and dropped later unless the model
 * passes them through.
 */
export interface EmbeddingBody {
  model: string;
  /** a text, a list of texts, a list of tokens, or a list of such lists */
  input: string | (string | number | number[])[];
  dimensions?: number;
  encoding_format?: 'float' | 'base64';
  user?: string;
  [k: string]: unknown;
}
