import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import type { DefaultEndpoint } from '../../../pipeline/modality.js';
import { headerSafe } from '../../../http/request-body.js';
import { dropNulls } from '../../../lib/drop-nulls.js';
import { isDataUrl } from '../../../lib/data-url.js';
import { isRecord } from '../../../lib/is-record.js';
import type { OpenAiVideoBody, VideoReference } from '../../../schema-types/openai-video.js';
import type { VideoParameters } from '../../../schema-types/video-submission.js';
import type { AspectRatio, Resolution } from '../../../core/task.js';
import { SIZES, sizeOf, videoObject } from './openai-video-object.js';
import {
  fitting,
  submissionStages,
  videoWork,
  type VideoFormat,
  type VideoWork,
} from './video-submission.js';

/** The model of clients that name none, as at OpenAI. */
const DEFAULT_MODEL = 'sora-2';

/** OpenAI's Videos API. Its tasks are those of the queue. */
export const openAiVideo: VideoFormat = {
  name: 'openai-video',
  endpoint: { name: 'videos', at: 'POST /v1/videos', stages: submissionStages('openai-video') },
  form: true,
  description: {
    summary: 'Submit a video task, in the words of OpenAI',
    details:
      'A form, or JSON with the same fields, where a file is a `data:` URL. ' +
      `Where \`model\` is left out, that is \`${DEFAULT_MODEL}\`.`,
    status: 200,
    content: { 'application/json': 'openai-video#/$defs/video' },
  },
  texts: { model: 'kept', seconds: 'kept', size: 'kept', input_reference: 'kept' },
  normalize: spell,
  repair: dropNulls,
  modelOf: (body) => (body as OpenAiVideoBody).model ?? DEFAULT_MODEL,
  // The schema vouches for the body: its type is made from it.
  read: (body, model) => openAiVideoWork(body as OpenAiVideoBody, model),
  accepted: async ({ request_id, services }) => {
    const task = await services.store.tasks.task(request_id);
    if (!task) throw new Error(`The task ${request_id} is gone while it is being submitted.`);
    return { status: 200, body: videoObject(task) };
  },
};

/** They follow a video to its end; all of the API stands below `/openai/v1` too. */
export const openAiVideoEndpoints: readonly DefaultEndpoint[] = [
  { ...openAiVideo.endpoint, name: 'openai-videos', at: 'POST /openai/v1/videos' },
  ...below('/v1', ''),
  ...below('/openai/v1', 'openai-'),
];

function below(path: string, prefix: string): DefaultEndpoint[] {
  const stages = ['auth', { route: 'video' }];
  return [
    {
      name: `${prefix}video-list`,
      at: `GET ${path}/videos`,
      stages: ['auth', { transform: 'video.list' }],
    },
    {
      name: `${prefix}video`,
      at: `GET ${path}/videos/{videoID}`,
      stages: [...stages, { transform: 'video.retrieve' }],
    },
    {
      name: `${prefix}video-content`,
      at: `GET ${path}/videos/{videoID}/content`,
      stages: [...stages, { transform: 'video.download' }, { meter: 'once' }],
    },
    {
      name: `${prefix}video-delete`,
      at: `DELETE ${path}/videos/{videoID}`,
      stages: [...stages, { transform: 'video.delete' }],
    },
  ];
}

const NESTED = /^input_reference\[(image_url|file_id)\]$/u;

/** In a form, `input_reference[image_url]` is a field of the object. */
function spell(body: unknown): unknown {
  if (!isRecord(body)) return body;
  for (const name of Object.keys(body)) {
    const [, field] = NESTED.exec(name) ?? [];
    const { input_reference: reference = {} } = body;
    if (field === undefined || !isRecord(reference)) continue;
    body['input_reference'] = { ...reference, [field]: body[name] };
    delete body[name];
  }
  return body;
}

/** As at OpenAI, where a client does not say it. */
const DEFAULT_SIZE = '720x1280';
const DEFAULT_SECONDS = 4;

/** Read by the gateway itself, so not named as ignored. */
const OWN = new Set([
  'model',
  'prompt',
  'seconds',
  'size',
  'input_reference',
  'generate_audio',
  'negative_prompt',
  'n',
]);

/** What would change the video or its price, and cannot be kept. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['characters', 'is not supported'],
  ['video', 'is not supported: videos are neither edited nor extended here'],
  ['remix_video_id', 'is not supported: videos are not remixed here'],
  ['resolution', 'is said by size here'],
  ['aspect_ratio', 'is said by size here'],
  ['duration', 'is called seconds here'],
  ['duration_seconds', 'is called seconds here'],
  ['sample_count', 'is always 1 here: POST /v1/queue/{model} makes several'],
  ['parameters', 'belongs to POST /v1/queue/{model}'],
]);

function openAiVideoWork(body: OpenAiVideoBody, model: Model): VideoWork {
  const { prompt, seconds, size = DEFAULT_SIZE, generate_audio, negative_prompt } = body;
  const given = Object.entries(body).flatMap(([name, value]) => (value === null ? [] : name));
  for (const name of given) {
    const why = REFUSED.get(name);
    if (why !== undefined) refuse(name, why);
  }
  const shape = SIZES[size];
  const image = imageOf(body.input_reference);
  const parameters: VideoParameters = {
    ...shape,
    duration_seconds: seconds === undefined ? usualSeconds(model) : secondsOf(seconds),
    ...(generate_audio !== undefined && { generate_audio }),
    ...(negative_prompt !== undefined && { negative_prompt }),
    ...(image !== undefined && { image }),
  };
  const ignored = given.filter((name) => !OWN.has(name));
  try {
    const { call } = videoWork({ prompt, parameters }, model);
    const heard = generate_audio === undefined ? withSound(call, model) : call;
    // The queue checks this again, but in words of its own.
    fitting(heard, model.upstreams);
    return { call: heard, ignored: ignored.map(headerSafe) };
  } catch (error) {
    throw error instanceof GatewayError ? inOpenAisWords(error, shape) : error;
  }
}

/** The usual length, or the longest that the model makes. */
function usualSeconds({ limits }: Model): number {
  return Math.min(DEFAULT_SECONDS, limits.video?.duration_seconds ?? DEFAULT_SECONDS);
}

function secondsOf(seconds: string | number): number {
  if (/^[1-8]$/u.test(String(seconds))) return Number(seconds);
  return refuse('seconds', 'must be a whole number from 1 to 8');
}

type Call = VideoWork['call'];

/** This API has no word for sound, so a video is silent where nobody offers it otherwise. */
function withSound(call: Call, model: Model): Call {
  const silent = { ...call, generate_audio: false };
  return !isOffered(call, model) && isOffered(silent, model) ? silent : call;
}

function isOffered(call: Call, model: Model): boolean {
  try {
    return fitting(call, model.upstreams).length > 0;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

/** The data: URL of the image to begin with. */
function imageOf(reference: VideoReference | undefined): string | undefined {
  if (reference === undefined) return undefined;
  const isText = typeof reference === 'string';
  if (!isText && typeof reference.file_id === 'string') {
    refuse('input_reference.file_id', 'is not supported: send the image itself');
  }
  const param = isText ? 'input_reference' : 'input_reference.image_url';
  const url = isText ? reference : (reference.image_url ?? undefined);
  if (isDataUrl(url)) return url;
  return refuse(param, 'must be the image itself: a file of a form, or a data: URL');
}

const NAMES: Readonly<Record<string, string>> = {
  duration_seconds: 'seconds',
  resolution: 'size',
  aspect_ratio: 'size',
  image: 'input_reference',
};
const RESOLUTION = /^(720p|1080p|4k)$/u;

/** A refusal of what the queue's parameters say, told by the fields of this API. */
function inOpenAisWords(
  error: GatewayError,
  shape: { resolution: Resolution; aspect_ratio: AspectRatio },
): GatewayError {
  const named = (text: string): string =>
    text.replaceAll(/\bparameters\.(\w+)/gu, (_all, name: string) => NAMES[name] ?? name);
  const message = named(error.message).replaceAll(/\b(720p|1080p|4k|16:9|9:16)\b/gu, (word) =>
    sizeOf(
      RESOLUTION.test(word)
        ? { ...shape, resolution: word as Resolution }
        : { ...shape, aspect_ratio: word as AspectRatio },
    ),
  );
  const details = error.param === null ? {} : { param: named(error.param) };
  return new GatewayError(error.code, message, { ...details, cause: error });
}

function refuse(param: string, complaint: string): never {
  throw new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}
