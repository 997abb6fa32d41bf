import { hasMethods } from '../../lib/objects.js';
import type { JsonObject } from '../../core/json.js';
import type { AspectRatio, Resolution, VideoRequest, ContentSource } from '../../core/task.js';
import type { Upstream } from '../../core/model.js';
import { operationReader } from '../../pipeline/operation.js';

/** A video call in the gateway's own words, defaults filled in (specification 2.8). */
export interface VideoCall {
  prompt: string;
  aspect_ratio: AspectRatio;
  resolution: Resolution;
  duration_seconds: number;
  generate_audio: boolean;
  /** The number of videos of this job, at most the `max` of its operation. */
  sample_count: number;
  negative_prompt: string | undefined;
  /** Base64 without a `data:` prefix, and the type that its first bytes show. */
  image: { base64: string; mime_type: 'image/png' | 'image/jpeg' | 'image/webp' } | undefined;
}

/** The state of a job as its upstream reports it. */
export type VideoProgress =
  | { status: 'IN_QUEUE' | 'IN_PROGRESS' }
  | { status: 'COMPLETED'; videos: readonly ContentSource[] }
  /** `error` is the message of the upstream, which the client sees. */
  | { status: 'FAILED'; error: string };

/** Why an upstream cannot make a video, known before any money is held. */
export interface VideoRefusal {
  /** The field, such as `parameters.duration_seconds`. */
  param: string;
  message: string;
}

/**
 * Translates video tasks to one wire format. Pure: the store keeps `state` between calls, as JSON.
 * Throws `UpstreamError` for an answer that breaks the wire format.
 */
export interface VideoCodec {
  refuse?(call: VideoCall, upstream: Upstream): VideoRefusal | undefined;
  submit(call: VideoCall, upstream: Upstream): VideoRequest;
  /** The state of a task from the answer to its submission (a 2xx). */
  submitted(body: unknown, call: VideoCall, upstream: Upstream): JsonObject;
  /** The error of a task whose answer exceeds `limits.answer`. Without it, polling goes on. */
  too_large?: string;
  /** The next poll of a task. Some upstreams need one more after the task is done. */
  poll(state: JsonObject, upstream: Upstream): VideoRequest;
  /**
   * Reads the answer of a poll. `status` is the HTTP status, by which some upstreams mark a failed
   * task. A new `state` causes one more poll at once.
   */
  polled(
    answer: { status: number; body: unknown },
    state: JsonObject,
    upstream: Upstream,
  ): VideoProgress | { state: JsonObject };
  /**
   * The request that makes the upstream drop a task that it has not begun. Any 2xx means that it
   * did. Left out if the upstream has no such request.
   */
  cancel?(state: JsonObject, upstream: Upstream): VideoRequest;
}

/** Whether an adapter's export is a video codec. */
export function isVideoCodec(value: unknown): value is VideoCodec {
  return hasMethods(value, ['submit', 'submitted', 'poll', 'polled']);
}

/** The operation of an upstream that makes videos; its `max` is the most videos of one job. */
export const videoOperation = operationReader('video', isVideoCodec);
