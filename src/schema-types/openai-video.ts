// Made by `npm run types` from schemas/openai-video.schema.json.

/** a file of a form, or a data: URL, of a PNG, JPEG or WebP of at most 20 MB */
export type VideoReference =
  | string
  | {
      /** a data: URL; an address is not fetched */
      image_url?: string | null;
      file_id?: string | null;
    };

/**
 * Body of POST /v1/videos: OpenAI's own contract, with the gateway's words for sound. Other fields
 * are let in here, and later refused or named as ignored.
 */
export interface OpenAiVideoBody {
  model?: string;
  prompt: string;
  /** a whole number of seconds from 1 to 8; 4 where it is left out */
  seconds?: string | number;
  /** 720x1280 where it is left out */
  size?: '720x1280' | '1280x720' | '1080x1920' | '1920x1080' | '2160x3840' | '3840x2160';
  input_reference?: VideoReference;
  generate_audio?: boolean;
  negative_prompt?: string;
  n?: number;
}
