import { GatewayError, refuseField } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import type { DefaultEndpoint } from '../../../pipeline/modality.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import { headerSafe } from '../../../http/ignored-header.js';
import { dropNulls, isRecord } from '../../../lib/objects.js';
import { isDataUrl } from '../../../lib/data-url.js';
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
  endpoint: {
    name: 'videos',
    at: 'POST /v1/videos',
    stages: submissionStages('openai-video'),
    also: OPENAI_BASE,
  },
  form: true,
  description: {
    summary: "Create a video, in OpenAI's format",
    details:
      'A form, or JSON with the same fields, where a file is a `data:` URL. ' +
      `Where \`model\` is left out, that is \`${DEFAULT_MODEL}\`.`,
    status: 200,
    content: { 'application/json': 'openai-video#/$defs/video' },
  },
  texts: { model: 'kept', seconds: 'kept', size: 'kept', input_reference: 'kept' },
  normalize: nestReference,
  repair: dropNulls,
  modelOf: (body) => (body as OpenAiVideoBody).model ?? DEFAULT_MODEL,
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => openAiVideoWork(body as OpenAiVideoBody, model),
  accepted: (task) => ({ status: 200, body: videoObject(task) }),
};

const STAGES = ['auth', { route: 'video' }];

/** The endpoints for submitted videos. */
export const openAiVideoEndpoints: readonly DefaultEndpoint[] = [
  {
    name: 'video-list',
    at: 'GET /v1/videos',
    stages: ['auth', { transform: 'video.list' }],
    also: OPENAI_BASE,
  },
  {
    name: 'video',
    at: 'GET /v1/videos/{videoID}',
    stages: [...STAGES, { transform: 'video.retrieve' }],
    also: OPENAI_BASE,
  },
  {
    name: 'video-content',
    at: 'GET /v1/videos/{videoID}/content',
    stages: [...STAGES, { transform: 'video.download' }, { meter: 'once' }],
    also: OPENAI_BASE,
  },
  {
    name: 'video-delete',
    at: 'DELETE /v1/videos/{videoID}',
    stages: [...STAGES, { transform: 'video.delete' }],
    also: OPENAI_BASE,
  },
];

const NESTED = /^input_reference\[(image_url|file_id)\]$/u;

/** In a form, `input_reference[image_url]` is a field of the object. */
function nestReference(body: unknown): void {
  if (!isRecord(body)) return;
  for (const name of Object.keys(body)) {
    const [, field] = NESTED.exec(name) ?? [];
    const { input_reference: reference = {} } = body;
    if (field === undefined || !isRecord(reference)) continue;
    body.input_reference = { ...reference, [field]: body[name] };
    delete body[name];
  }
}

/** OpenAI's defaults. */
const DEFAULT_SIZE = '720x1280';
const DEFAULT_SECONDS = 4;

/** Fields that the gateway reads itself, and does not report as ignored. */
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

/** Fields that would change the video or its price, and are not supported. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['characters', 'is not supported'],
  ['video', 'is not supported: videos are neither edited nor extended here'],
  ['remix_video_id', 'is not supported: videos are not remixed here'],
  ['resolution', 'is set by size here'],
  ['aspect_ratio', 'is set by size here'],
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
    if (why !== undefined) refuseField(name, why);
  }
  const shape = SIZES[size];
  const image = imageOf(body.input_reference);
  const parameters: VideoParameters = {
    ...shape,
    duration_seconds: seconds === undefined ? defaultSeconds(model) : secondsOf(seconds),
    ...(generate_audio !== undefined && { generate_audio }),
    ...(negative_prompt !== undefined && { negative_prompt }),
    ...(image !== undefined && { image }),
  };
  const ignored = given.filter((name) => !OWN.has(name));
  try {
    const { call } = videoWork({ prompt, parameters }, model);
    const withAudio = generate_audio === undefined ? withSound(call, model) : call;
    // The queue checks this again, but names its own fields.
    fitting(withAudio, model.upstreams);
    return { call: withAudio, ignored: ignored.map(headerSafe) };
  } catch (error) {
    throw error instanceof GatewayError ? withOpenAiWords(error, shape) : error;
  }
}

/** The default length, or the longest that the model makes. */
function defaultSeconds({ limits }: Model): number {
  return Math.min(DEFAULT_SECONDS, limits.video?.duration_seconds ?? DEFAULT_SECONDS);
}

function secondsOf(seconds: string | number): number {
  if (/^[1-8]$/u.test(String(seconds))) return Number(seconds);
  return refuseField('seconds', 'must be a whole number from 1 to 8');
}

type Call = VideoWork['call'];

/** This API has no field for sound, so a video is silent if it is only offered without sound. */
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
    refuseField('input_reference.file_id', 'is not supported: send the image itself');
  }
  const param = isText ? 'input_reference' : 'input_reference.image_url';
  const url = isText ? reference : (reference.image_url ?? undefined);
  if (isDataUrl(url)) return url;
  return refuseField(param, 'must be the image itself: a file of a form, or a data: URL');
}

const NAMES: Readonly<Record<string, string>> = {
  duration_seconds: 'seconds',
  resolution: 'size',
  aspect_ratio: 'size',
  image: 'input_reference',
};

/** An error of the queue, in the words of this API. */
function withOpenAiWords(
  error: GatewayError,
  shape: { resolution: Resolution; aspect_ratio: AspectRatio },
): GatewayError {
  const named = (text: string): string =>
    text.replaceAll(/\bparameters\.(\w+)/gu, (_all, name: string) => NAMES[name] ?? name);
  const message = named(error.message)
    .replaceAll(/\b(?:720p|1080p|4k)\b/gu, (word) =>
      sizeOf({ ...shape, resolution: word as Resolution }),
    )
    .replaceAll(/\b(?:16:9|9:16)\b/gu, (word) =>
      sizeOf({ ...shape, aspect_ratio: word as AspectRatio }),
    );
  const details = error.param === null ? {} : { param: named(error.param) };
  return new GatewayError(error.code, message, { ...details, cause: error });
}
