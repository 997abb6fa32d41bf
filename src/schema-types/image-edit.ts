// Made by `npm run types` from schemas/image-edit.schema.json.

/**
 * Body of POST /v1/images/edits, as JSON, or as a form whose files are read as data URLs. Other
 * fields are let in here and dropped later unless the model passes them through.
 */
export interface ImageEditBody {
  model: string;
  prompt: string;
  /** a PNG, JPEG or WebP file, or a list of up to 16 of them, also as image[]; in JSON data URLs */
  image: string | string[];
  /** a PNG whose transparent parts show where to edit */
  mask?: string;
  n?: number;
  /** width and height in pixels, such as 1024x1024, or auto */
  size?: string;
  /**
   * medium is the same as standard, high the same as hd; auto is the upstream's choice, held at the
   * dearest
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
