// Made by `npm run types` from schemas/image-generation.schema.json.

/**
 * Body of POST /v1/images/generations: service specification 2.6. Other fields are let in here and
 * dropped later unless the model passes them through.
 */
export interface ImageGenerationBody {
  model: string;
  prompt: string;
  n?: number;
  /** width and height in pixels, such as 1024x1024, or auto */
  size?: string;
  /**
   * medium is the same as standard, high the same as hd; low costs as standard where it has no
   * price; auto is the upstream's choice, held at the dearest
   */
  quality?: 'standard' | 'hd' | 'low' | 'medium' | 'high' | 'auto';
  response_format?: 'url' | 'b64_json';
  style?: 'natural' | 'vivid';
  /** false: images are not streamed */
  stream?: boolean | null;
  /** 0: images are not streamed */
  partial_images?: number | null;
  [k: string]: unknown;
}
