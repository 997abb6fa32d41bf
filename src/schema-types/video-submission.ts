// Made by `npm run types` from schemas/video-submission.schema.json.

/** POST /v1/queue/{model}: what the gateway reads. Other fields are named as ignored. */
export interface VideoSubmissionBody {
  prompt: string;
  parameters?: VideoParameters;
  [k: string]: unknown;
}
export interface VideoParameters {
  aspect_ratio?: '16:9' | '9:16';
  resolution?: '720p' | '1080p' | '4k';
  duration_seconds?: number;
  generate_audio?: boolean;
  sample_count?: number;
  negative_prompt?: string;
  /** base64 of a PNG, JPEG or WebP, or a data: URL of one; at most 20 MB of it */
  image?: string;
  [k: string]: unknown;
}
