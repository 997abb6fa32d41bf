import type { Upstream } from '../../core/provider.js';

export type AspectRatio = '16:9' | '9:16';
export type Resolution = '720p' | '1080p' | '4k';

/** A video call in the gateway's own words, defaults filled in (specification 2.8). */
export interface VideoCall {
  prompt: string;
  aspect_ratio: AspectRatio;
  resolution: Resolution;
  duration_seconds: number;
  generate_audio: boolean;
  /** How many this one upstream task must make: never more than its operation's `most`. */
  sample_count: number;
  negative_prompt: string | undefined;
  /** Base64 without a `data:` prefix, and the type its first bytes show. */
  image: { base64: string; mime_type: 'image/png' | 'image/jpeg' | 'image/webp' } | undefined;
}

export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** A request to an upstream. `url` is absolute, for upstreams that say where to ask next. */
export interface VideoRequest {
  method: 'GET' | 'POST';
  /** Joined to the provider's `base_url`, unless it is an absolute http(s) URL. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Json;
  /** False where the address is open to all, so that credentials must not go there. */
  credentials: boolean;
}

/** Where one finished video is: kept with the task, and asked for when its content is fetched. */
export interface VideoPlace {
  request: VideoRequest;
  /** The way to its base64 within a JSON answer; left out where the answer is the video. */
  base64_at?: readonly (string | number)[];
}

export type VideoProgress =
  | { status: 'IN_QUEUE' | 'IN_PROGRESS' }
  | { status: 'COMPLETED'; videos: readonly VideoPlace[] }
  /** In the upstream's own words: the client is shown them. */
  | { status: 'FAILED'; error: string };

/** Why an upstream cannot make what is asked for, known before any money is held. */
export interface VideoRefusal {
  /** The field, such as `parameters.duration_seconds`. */
  param: string;
  message: string;
}

/**
 * How one upstream makes videos. Pure: what must be remembered between calls is `state`, JSON that
 * the store keeps. Throws `UpstreamError` for an answer that breaks the wire format.
 */
export interface VideoCodec {
  refuse?(call: VideoCall, upstream: Upstream): VideoRefusal | undefined;
  submit(call: VideoCall, upstream: Upstream): VideoRequest;
  /** The state of a task from the answer to its submission (a 2xx). */
  submitted(body: unknown, call: VideoCall, upstream: Upstream): JsonObject;
  /** Why a task ends whose answer is larger than `limits.answer`; left out, it is asked again. */
  too_large?: string;
  /** The next question about a task: some upstreams want a second one once it is done. */
  poll(state: JsonObject, upstream: Upstream): VideoRequest;
  /**
   * What an answer to `poll` means. `status` is the HTTP status: some upstreams tell a failed task
   * by it. A new `state` asks for one more question at once.
   */
  polled(
    answer: { status: number; body: unknown },
    state: JsonObject,
    upstream: Upstream,
  ): VideoProgress | { state: JsonObject };
}
