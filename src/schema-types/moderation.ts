// Made by `npm run types` from schemas/moderation.schema.json.

export type ModerationPart =
  | string
  | {
      type: 'text' | 'image_url';
      text?: string;
      image_url?: {
        url: string;
      };
    };

/**
 * Body of POST /v1/moderations: OpenAI's own contract. Other fields are let in here and dropped
 * later unless the model passes them through.
 */
export interface ModerationBody {
  model?: string;
  /** a text, a list of texts, or a list of parts that are judged together */
  input: string | ModerationPart[];
}
