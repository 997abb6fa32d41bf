import type { DefaultEndpoint, RequestFormat } from '../../../pipeline/modality.js';
import type { SendContext } from '../../../pipeline/work.js';
import { videoOperation, type VideoCall, type VideoRefusal } from '../codec.js';
import { videoRate } from '../price.js';
import { headerSafe } from '../../../http/ignored-header.js';
import { GatewayError, refuseField } from '../../../core/errors.js';
import { dropNulls, isRecord } from '../../../lib/objects.js';
import type {
  VideoParameters,
  VideoSubmissionBody,
} from '../../../schema-types/video-submission.js';
import { readImage } from '../input-image.js';
import { linkTo } from '../links.js';
import type { Model, Upstream } from '../../../core/model.js';
import type { Task } from '../../../store/tasks/task-types.js';

/** A video request as the chosen model takes it. */
export interface VideoWork {
  call: VideoCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** A client format of the video queue. */
export interface VideoFormat extends RequestFormat {
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): VideoWork;
  /** The answer for a task that an upstream accepts. */
  accepted(task: Task, context: SendContext): Acceptance;
}

/** The answer to an accepted submission. */
export interface Acceptance {
  status: 200 | 202;
  body: object;
}

/** The stages of an endpoint that submits tasks in a format. */
export function submissionStages(format: string): DefaultEndpoint['stages'] {
  return [
    'auth',
    { validate: format },
    { route: { capability: 'video' } },
    'limit',
    'balance',
    { transform: 'video.submit' },
  ];
}

/** The submission of the service specification (2.8): its path names the model. */
export const videoSubmission: VideoFormat = {
  name: 'video-submission',
  endpoint: {
    name: 'submit',
    at: 'POST /v1/queue/{model}',
    stages: submissionStages('video-submission'),
  },
  description: {
    summary: 'Submit a video task',
    details: 'Answers at once; ask `status_url` how far it is, and `response_url` when done.',
    status: 202,
    content: { 'application/json': 'video-submission-response' },
  },
  repair: repairBody,
  texts: { parameters: { image: 'kept', aspect_ratio: 'kept', resolution: 'kept' } },
  modelOf: (_body, params) => params.model ?? '',
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => videoWork(body as VideoSubmissionBody, model),
  accepted: ({ id: request_id, model }, { endpoint, client, services }) => {
    const base = { endpoint, path: client.path, model };
    const names = { requestID: request_id };
    const body = {
      request_id,
      status: 'IN_QUEUE',
      status_url: linkTo('video.status', names, base, services),
      response_url: linkTo('video.result', names, base, services),
    };
    return { status: 202, body };
  },
};

/** Drops the nulls of optional fields, also of the parameters. */
function repairBody(body: unknown): boolean {
  const parameters = isRecord(body) ? body.parameters : undefined;
  return [body, parameters].filter((one) => dropNulls(one)).length > 0;
}

const PARAMETERS = new Set([
  'aspect_ratio',
  'resolution',
  'duration_seconds',
  'generate_audio',
  'sample_count',
  'negative_prompt',
  'image',
]);

/**
 * A valid body with the defaults of specification 2.8, within the limits of the model. Throws
 * `GatewayError` for what the model cannot take.
 */
export function videoWork(body: VideoSubmissionBody, model: Model): VideoWork {
  const { prompt, parameters = {}, ...rest } = body;
  const standard = videoDefaults(model);
  const call: VideoCall = {
    prompt,
    aspect_ratio: parameters.aspect_ratio ?? standard.aspect_ratio,
    resolution: parameters.resolution ?? standard.resolution,
    duration_seconds: parameters.duration_seconds ?? standard.duration_seconds,
    generate_audio: parameters.generate_audio ?? standard.generate_audio,
    sample_count: parameters.sample_count ?? standard.sample_count,
    negative_prompt: parameters.negative_prompt ?? standard.negative_prompt,
    image: parameters.image === undefined ? undefined : readImage(parameters.image),
  };
  checkLimits(call, model);
  return { call, ignored: ignoredOf(rest, parameters) };
}

/** The defaults of specification 2.8; a video is as long as the model makes it. */
export function videoDefaults({ limits, upstreams }: Pick<Model, 'limits' | 'upstreams'>) {
  // `check` has held them to the schema of the parameters; all upstreams have the same.
  const own: VideoParameters = upstreams[0]?.default?.video ?? {};
  return {
    aspect_ratio: own.aspect_ratio ?? '16:9',
    resolution: own.resolution ?? '720p',
    duration_seconds: own.duration_seconds ?? limits.video?.duration_seconds ?? 8,
    generate_audio: own.generate_audio ?? true,
    sample_count: own.sample_count ?? 1,
    ...(own.negative_prompt !== undefined && { negative_prompt: own.negative_prompt }),
  };
}

function ignoredOf(rest: Record<string, unknown>, parameters: VideoParameters): string[] {
  const unknown = Object.keys(parameters).filter((name) => !PARAMETERS.has(name));
  return [
    ...Object.keys(rest).map(headerSafe),
    ...unknown.map((name) => `parameters.${headerSafe(name)}`),
  ];
}

function checkLimits(call: VideoCall, { id, limits }: Model): void {
  const { duration_seconds, sample_count, resolutions } = limits.video ?? {};
  if (duration_seconds !== undefined && call.duration_seconds > duration_seconds) {
    refuse('duration_seconds', `must be at most ${duration_seconds} for ${id}`);
  }
  if (sample_count !== undefined && call.sample_count > sample_count) {
    refuse('sample_count', `must be at most ${sample_count} for ${id}`);
  }
  if (resolutions && !resolutions.includes(call.resolution)) {
    refuse('resolution', `must be one of ${resolutions.join(', ')} for ${id}`);
  }
}

function refuse(name: string, complaint: string): never {
  refuseField(`parameters.${name}`, complaint);
}

/**
 * The upstreams that can make the video and have a price for it. Throws the refusal of the first
 * one (400) if there is none, before any money is held.
 */
export function fitting(call: VideoCall, upstreams: readonly Upstream[]): readonly Upstream[] {
  const able = ableUpstreams(call, upstreams);
  const [first] = upstreams;
  const refusal = able.length === 0 && first && refusalOf(call, first);
  if (!refusal) return able;
  const { param, message } = refusal;
  throw new GatewayError('invalid_request', message, { param });
}

/** The upstreams that can make the video and have a price for it. */
export function ableUpstreams(
  call: VideoCall,
  upstreams: readonly Upstream[],
): readonly Upstream[] {
  return upstreams.filter((upstream) => !refusalOf(call, upstream));
}

function refusalOf(call: VideoCall, upstream: Upstream): VideoRefusal | undefined {
  const { max, codec } = videoOperation(upstream.provider);
  const sample_count = Math.min(call.sample_count, max);
  const refusal = codec.refuse?.({ ...call, sample_count }, upstream);
  if (refusal || videoRate(upstream.price, call) !== undefined) return refusal;
  const sound = call.generate_audio ? 'with' : 'without';
  return {
    param: 'parameters.resolution',
    message: `${call.resolution} ${sound} audio (parameters.generate_audio) is not offered here.`,
  };
}
