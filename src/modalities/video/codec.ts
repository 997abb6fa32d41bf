import { hasMethods } from '../../lib/is-record.js';
import type { JsonObject } from '../../core/json.js';
import type { AspectRatio, Resolution, VideoRequest, ContentSource } from '../../core/task.js';
import type { Upstream } from '../../core/model.js';

/** A video call in the gateway's own words, defaults filled in (specification 2.8). */
export interface VideoCall {
  prompt: string;
  aspect_ratio: AspectRatio;
  resolution: Resolution;
  duration_seconds: number;
  generate_audio: boolean;
  /** How many this one upstream task must make: never more than its operation's `max`. */
  sample_count: number;
  negative_prompt: string | undefined;
  /** Base64 without a `data:` prefix, and the type its first bytes show. */
  image: { base64: string; mime_type: 'image/png' | 'image/jpeg' | 'image/webp' } | undefined;
}

export type VideoProgress =
  | { status: 'IN_QUEUE' | 'IN_PROGRESS' }
  | { status: 'COMPLETED'; videos: readonly ContentSource[] }
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
  /**
   * How the upstream is told to drop a task that it has not begun. Any 2xx says that it has done
   * so; left out where it cannot be told.
   */
  cancel?(state: JsonObject, upstream: Upstream): VideoRequest;
}

/** Whether an adapter's export is a video codec. */
export function isVideoCodec(value: unknown): value is VideoCodec {
  return hasMethods(value, ['submit', 'submitted', 'poll', 'polled']);
}

/** How the upstream's provider makes videos: more than `max` are asked for by as many tasks. */
export function videoOperation({ provider }: Upstream): { codec: VideoCodec; max: number } {
  const operation = provider.operations.get('video');
  if (operation && isVideoCodec(operation.codec)) {
    return { codec: operation.codec, max: operation.max };
  }
  throw new Error(`${provider.name} does not make videos.`);
}
