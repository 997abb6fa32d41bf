import { classifyError } from '../src/upstream/classify-error.js';
import type { VideoCall, VideoProgress } from '../src/modalities/video/codec.js';
import type { VideoRefusal } from '../src/modalities/video/codec.js';
import { answerIn, broken, modelOf, objectIn, textIn, type GeminiObject } from './gemini-wire.js';
import type { Json, JsonObject } from '../src/core/json.js';
import type { ContentSource } from '../src/core/task.js';
import type { Upstream } from '../src/core/model.js';

const IMAGE_BYTES = 20 * 1024 ** 2;
const IMAGE_TYPES = ['image/png', 'image/jpeg'];

/** Fields that only the gateway sets, as the price depends on them. */
const FIXED = [
  'durationSeconds',
  'resolution',
  'aspectRatio',
  'generateAudio',
  'sampleCount',
  'numberOfVideos',
];

/** Only such a name may become a part of a path. */
const OPERATION = /^\w[\w.:@-]*(\/\w[\w.:@-]*)*\/operations\/\w[\w.-]*$/u;

/** gRPC codes whose messages may reveal details of the gateway's account. */
const CREDENTIAL_CODES: readonly unknown[] = [7, 16];

/** Veo 2 has other lengths than its successors, one resolution and no sound. */
export function isVeo2(model: string): boolean {
  return model.includes('veo-2');
}

/** Why no Veo model can make a video, on any service. */
export function refuseVeo(call: VideoCall, model: string): VideoRefusal | undefined {
  const { duration_seconds, resolution, generate_audio, image } = call;
  const older = isVeo2(model);
  const lengths = older ? [5, 6, 7, 8] : [4, 6, 8];
  if (!lengths.includes(duration_seconds)) {
    return refusal('duration_seconds', `must be one of ${lengths.join(', ')} for this model`);
  }
  if (older && resolution !== '720p') return refusal('resolution', 'must be 720p for this model');
  if (older && generate_audio) {
    return refusal('generate_audio', 'must be false for this model, which makes no sound');
  }
  if (resolution === '4k' && model.includes('lite')) {
    return refusal('resolution', 'must be 720p or 1080p for this model');
  }
  if (image && !IMAGE_TYPES.includes(image.mime_type)) {
    return refusal('image', 'must be a PNG or a JPEG for this model');
  }
  if (image && (image.base64.length / 4) * 3 > IMAGE_BYTES) {
    return refusal('image', 'must have at most 20 MB for this model');
  }
  return undefined;
}

/** A refusal of one of the request's parameters. */
export function refusal(name: string, complaint: string): VideoRefusal {
  const param = `parameters.${name}`;
  return { param, message: `${param} ${complaint}.` };
}

/**
 * The body of a submission. `more` are the parameters that one service wants and another refuses;
 * the operator's `set` adds further ones, such as `seed` or `personGeneration`.
 */
export function veoBody(call: VideoCall, { model, set }: Upstream, more: JsonObject): JsonObject {
  const { prompt, image, negative_prompt } = call;
  const instance = {
    prompt,
    ...(image && { image: { bytesBase64Encoded: image.base64, mimeType: image.mime_type } }),
  };
  const parameters = {
    ...own(set),
    aspectRatio: call.aspect_ratio,
    ...(!isVeo2(model) && { resolution: call.resolution }),
    durationSeconds: call.duration_seconds,
    ...(negative_prompt !== undefined && { negativePrompt: negative_prompt }),
    ...more,
  };
  return { instances: [instance], parameters };
}

function own(set: Upstream['set']): JsonObject {
  const kept = Object.entries(set).filter(([name]) => !FIXED.includes(name));
  // It came from a YAML file, so there is nothing in it that is not JSON.
  return Object.fromEntries(kept) as JsonObject;
}

/** The path of a model's submissions, behind the part that the service puts before it. */
export function veoPath(prefix: string, model: string): string {
  return `${prefix}/${modelOf(model)}:predictLongRunning`;
}

/** The name of the operation that a submission began. */
export function operationIn(body: unknown, { provider }: Upstream): string {
  const name = textIn(answerIn(body, provider), 'name');
  if (name !== undefined && OPERATION.test(name)) return name;
  throw broken('The upstream began no video.');
}

/** Of an operation's answer: where its videos are, and why there are fewer than asked for. */
export interface Outcome {
  videos: readonly ContentSource[];
  /** Why some were held back. */
  reasons: readonly string[];
  held_back: number;
}

/** Reads the answer of a poll. `read` finds the result of a finished operation in it. */
export function veoProgress(
  answer: { status: number; body: unknown },
  { provider }: Upstream,
  read: (response: GeminiObject) => Outcome,
): VideoProgress {
  const { status, body } = answer;
  if (status === 404) {
    return { status: 'FAILED', error: 'The upstream does not know this task any more.' };
  }
  if (status !== 200) throw classifyError(status, {}, JSON.stringify(body), provider);
  const operation = objectIn({ body }, 'body');
  if (operation.done !== true) {
    if (textIn(operation, 'name') !== undefined) return { status: 'IN_PROGRESS' };
    throw broken('The upstream says nothing of the video.');
  }
  if ('error' in operation) return { status: 'FAILED', error: errorIn(operation) };
  const { videos, reasons, held_back } = read(objectIn(operation, 'response'));
  // With videos there, reasons are about the others, or about their sound.
  if (videos.length === 0 && (reasons.length > 0 || held_back > 0)) {
    const reason = reasons.join(' ') || 'It held the video back by its rules on content.';
    return { status: 'FAILED', error: `The upstream refused the prompt. ${reason}` };
  }
  return { status: 'COMPLETED', videos };
}

function errorIn(operation: GeminiObject): string {
  const error = objectIn(operation, 'error');
  if (CREDENTIAL_CODES.includes(error.code)) {
    return "The upstream refused the gateway's credentials.";
  }
  return textIn(error, 'message') ?? 'The upstream gave no reason.';
}

/** The texts of a list; empty if it is not a list. */
export function textsIn(fields: GeminiObject, name: string): string[] {
  const list = fields[name];
  return Array.isArray(list) ? list.filter((text: unknown) => typeof text === 'string') : [];
}

/** A part of a task's state that is text. */
export function stateText(state: JsonObject, name: string): string {
  const value: Json | undefined = state[name];
  return typeof value === 'string' ? value : '';
}
