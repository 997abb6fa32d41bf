import type { Json } from './json.js';

export type AspectRatio = '16:9' | '9:16';

export type Resolution = '720p' | '1080p' | '4k';

/** A request of a video adapter to an upstream. */
export interface VideoRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Joined to the provider's `base_url`, unless it is an absolute http(s) URL. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Json;
  /** False if the address is public, so that credentials must not be sent there. */
  credentials: boolean;
}

/**
 * The source of a finished video. It is kept with the task, and used when a client fetches the
 * video.
 */
export interface ContentSource {
  request: VideoRequest;
  /** The path to the video's base64 in a JSON answer; absent if the answer is the video itself. */
  base64_at?: readonly (string | number)[];
}
