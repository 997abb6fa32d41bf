import type { Json } from './json.js';

export type AspectRatio = '16:9' | '9:16';

export type Resolution = '720p' | '1080p' | '4k';

/** A request to an upstream. `url` is absolute, for upstreams that say where to ask next. */
export interface VideoRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Joined to the provider's `base_url`, unless it is an absolute http(s) URL. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Json;
  /** False where the address is open to all, so that credentials must not go there. */
  credentials: boolean;
}

/** Where one finished video is: kept with the task, and asked for when its content is fetched. */
export interface ContentSource {
  request: VideoRequest;
  /** The way to its base64 within a JSON answer; left out where the answer is the video. */
  base64_at?: readonly (string | number)[];
}
