import { isRecord } from '../../src/lib/objects.js';
import { classifyError } from '../../src/upstream/classify-error.js';
import type { VideoCodec } from '../../src/modalities/video/codec.js';
import { textIn } from './wire.js';
import type { JsonObject } from '../../src/core/json.js';
import type { ContentSource } from '../../src/core/task.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

/** The simulator's wire for video jobs. A job's state is its ID alone. */
export const video: VideoCodec = {
  submit(call, upstream) {
    const { prompt, negative_prompt, resolution, aspect_ratio, image } = call;
    const body = {
      model: upstream.model,
      prompt,
      ...(negative_prompt !== undefined && { negative_prompt }),
      resolution,
      aspect_ratio,
      seconds: call.duration_seconds,
      audio: call.generate_audio,
      count: call.sample_count,
      ...(image && { image }),
    };
    return { method: 'POST', path: '/videos', body, credentials: true };
  },

  submitted(body) {
    const id = isRecord(body) ? textIn(body, 'id') : undefined;
    if (id === undefined) throw new UpstreamError('broken', 'The upstream began no video.');
    return { id };
  },

  poll: (state) => ({ method: 'GET', path: pathOf(state), credentials: true }),

  cancel: (state) => ({ method: 'POST', path: `${pathOf(state)}/cancel`, credentials: true }),

  polled({ status, body }, state) {
    if (status !== 200) throw classifyError(status, {}, JSON.stringify(body));
    const job = isRecord(body) ? body : {};
    switch (job.status) {
      case 'queued':
        return { status: 'IN_QUEUE' };
      case 'in_progress':
        return { status: 'IN_PROGRESS' };
      case 'completed':
        return { status: 'COMPLETED', videos: places(state, job.count) };
      case 'failed': {
        const error = isRecord(job.error) ? textIn(job.error, 'message') : undefined;
        return { status: 'FAILED', error: error ?? 'The upstream gave no reason.' };
      }
      default:
        throw new UpstreamError('broken', 'The upstream says nothing of the video.');
    }
  },
};

function places(state: JsonObject, count: unknown): ContentSource[] {
  const length = typeof count === 'number' ? count : 0;
  return Array.from({ length }, (_, index) => {
    const path = `${pathOf(state)}/content?index=${index}`;
    return { request: { method: 'GET', path, credentials: true } };
  });
}

function pathOf(state: JsonObject): string {
  return `/videos/${encodeURIComponent(textIn(state, 'id') ?? '')}`;
}
