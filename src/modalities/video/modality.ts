import type { DefaultEndpoint, Modality, Operation } from '../../pipeline/modality.js';
import { fact } from '../../pipeline/stage.js';
import { cancel, keyActor } from './cancel.js';
import { streamContent } from './content.js';
import { findTask, findVideo } from './find-task.js';
import { openAiVideo, openAiVideoEndpoints } from './formats/openai-video.js';
import { videoDefaults, videoSubmission, type VideoFormat } from './formats/video-submission.js';
import { readVideo } from './manifest.js';
import { OPENAI_VIDEO_OPERATIONS } from './openai-videos.js';
import { readVideoPrices } from './price-block.js';
import { result, status } from './result.js';
import { sampleBill } from './sample-bill.js';
import { PlannedVideo } from './submit.js';

const FORMATS: readonly VideoFormat[] = [videoSubmission, openAiVideo];

const OPERATIONS: readonly Operation[] = [
  {
    name: 'video.submit',
    format: videoSubmission.name,
    shape: {
      needs: ['caller', 'model', 'work:video'],
      gives: ['answer:document'],
      money: 'hands-over',
    },
  },
  {
    name: 'video.status',
    description: {
      summary: 'Get the status of a video task',
      details: 'Costs nothing.',
      status: 200,
      content: { 'application/json': 'video-status' },
    },
    shape: { needs: ['caller', 'task:task'], gives: ['answer:status'] },
    run: (state, _client, services) => status(fact(state, 'task'), services),
  },
  {
    name: 'video.result',
    description: {
      summary: 'Get the result of a video task',
      details: 'The first fetch of a `COMPLETED` task is charged, and no other.',
      status: 200,
      content: { 'application/json': 'video-result' },
    },
    shape: { needs: ['caller', 'task:task'], gives: ['answer:task'], money: 'completes' },
    run: (state, client, services) => {
      const routed = fact(state, 'task');
      const base = { endpoint: state.endpoint, path: client.path, model: routed.task.model };
      return result(routed, client, base, services);
    },
  },
  {
    name: 'video.content',
    description: {
      summary: 'Download a video',
      status: 200,
      content: { 'video/mp4': 'bytes' },
      refusals: [416],
    },
    shape: { needs: ['caller', 'task:content'], gives: ['answer:content'] },
    run: (state, client, services) =>
      streamContent(fact(state, 'task'), state.request_id, client, services),
  },
  {
    name: 'video.cancel',
    description: {
      summary: 'Cancel a video task that has not begun',
      details:
        'A cancelled task is `FAILED`, its hold is released, and it is never charged. Beside the ' +
        'error of one that cannot be cancelled stands `status: ALREADY_COMPLETED`.',
      status: 202,
      content: { 'application/json': 'video-cancellation' },
      error_schema: 'video-cancellation#/$defs/refusal',
    },
    shape: { needs: ['caller', 'task:task'], gives: ['answer:status'] },
    run: (state, _client, services) => {
      return cancel(fact(state, 'task'), services, keyActor(state));
    },
  },
  ...OPENAI_VIDEO_OPERATIONS,
];

/** The endpoints for a submitted task. */
const ENDPOINTS: readonly DefaultEndpoint[] = [
  {
    name: 'status',
    at: 'GET /v1/queue/{model}/requests/{requestID}/status',
    stages: ['auth', { route: 'task' }, { transform: 'video.status' }],
  },
  {
    name: 'result',
    at: 'GET /v1/queue/{model}/requests/{requestID}',
    stages: ['auth', { route: 'task' }, { transform: 'video.result' }, { meter: 'once' }],
  },
  {
    name: 'content',
    at: 'GET /v1/queue/{model}/requests/{requestID}/content/{index}',
    stages: ['auth', { route: 'content' }, { transform: 'video.content' }],
  },
  {
    name: 'cancel',
    at: 'PUT /v1/queue/{model}/requests/{requestID}/cancel',
    stages: ['auth', { route: 'task' }, { transform: 'video.cancel' }],
  },
  ...openAiVideoEndpoints,
];

/** Videos, which are made by tasks: submitted, polled, and charged when their result is fetched. */
export const video: Modality = {
  name: 'video',
  formats: FORMATS,
  endpoints: ENDPOINTS,
  operations: OPERATIONS,
  tasks: {
    task: (params, state, services) => findTask('task', params, state, services),
    content: (params, state, services) => findTask('content', params, state, services),
    video: findVideo,
  },
  plan: ({ format: name, body }, model) => {
    const format = FORMATS.find((one) => one.name === name);
    if (!format) throw new Error(`No video format is called ${name}.`);
    return new PlannedVideo(format, format.read(body, model), model);
  },
  configuration: {
    refinements: [],
    units: { per_video_second: { pays: ['video'], read: readVideoPrices } },
    manifest: { served_by: [['video'], ['video.submit', 'video.status']], read: readVideo },
    does: 'makes videos',
    model_names: /^(?:veo|sora)-/,
    fields: {
      own: [],
      held: [],
      refused: [],
      default_schemas: ['video-submission#parameters'],
      undefaulted: ['image'],
    },
  },
  documentation: {
    example: sampleBill,
    defaults: videoDefaults,
    sampleCall: (model) => ({
      path: `/v1/queue/${model}`,
      body: { prompt: 'A lighthouse at dawn', parameters: { duration_seconds: 4 } },
    }),
    playground: { title: 'Video', ideas: ['Waves under a full moon', 'A train crossing a bridge'] },
  },
};
