import { randomBytes } from 'node:crypto';
import { isRecord } from '../../src/lib/objects.js';
import { readClip } from './clip.js';
import { hash } from './fake-text.js';
import { isCount, parse, textIn, type BodyFields } from './wire.js';

/** A video job. Its ID contains all of it, so that any process can answer for it. */
export interface Job {
  created_ms: number;
  /** How long the job takes. */
  takes_ms: number;
  seed: number;
  fails: boolean;
  resolution: string;
  aspect_ratio: string;
  seconds: number;
  audio: boolean;
  count: number;
}

export interface Progress {
  status: 'queued' | 'in_progress' | 'completed' | 'failed';
  /** Percent. */
  progress: number;
}

const PREFIX = 'video_';
const RESOLUTIONS: readonly unknown[] = ['720p', '1080p', '4k'];
const MAX_SECONDS = 8;
const MAX_VIDEOS = 4;
const QUEUED_PERCENT = 10;

/** The first field of a submission that cannot be met, with the reason; undefined for none. */
export function faultIn(body: BodyFields): [field: string, message: string] | undefined {
  const { prompt, resolution, aspect_ratio: ratio, seconds, audio, count } = body;
  if (typeof prompt !== 'string' || prompt === '') return ['prompt', 'A prompt is needed.'];
  if (!RESOLUTIONS.includes(resolution)) return ['resolution', 'resolution is 720p, 1080p or 4k.'];
  if (ratio !== '16:9' && ratio !== '9:16')
    return ['aspect_ratio', 'aspect_ratio is 16:9 or 9:16.'];
  if (!isCount(seconds, MAX_SECONDS)) return ['seconds', `seconds is 1 to ${MAX_SECONDS}.`];
  if (typeof audio !== 'boolean') return ['audio', 'audio is true or false.'];
  if (!isCount(count, MAX_VIDEOS)) return ['count', `count is 1 to ${MAX_VIDEOS}.`];
  return undefined;
}

/** The ID of a new job for a submission without faults. A prompt with `[fail]` in it will fail. */
export function newJob(body: BodyFields, created_ms: number, takes_ms: number): string {
  const { resolution, aspect_ratio, seconds, audio, count } = body;
  const prompt = textIn(body, 'prompt') ?? '';
  const image = isRecord(body.image) ? textIn(body.image, 'base64') : undefined;
  const seed = hash(prompt + (image ?? ''));
  const fails = prompt.includes('[fail]');
  // Two jobs of one millisecond are still two.
  const nonce = randomBytes(6).toString('base64url');
  const wanted = { resolution, aspect_ratio, seconds, audio, count };
  const job = { nonce, created_ms, takes_ms, seed, fails, ...wanted };
  return PREFIX + Buffer.from(JSON.stringify(job)).toString('base64url');
}

/** The job in an ID; undefined for an ID that the simulator did not make. */
export function jobOf(id: string): Job | undefined {
  if (!id.startsWith(PREFIX)) return undefined;
  const job = parse(Buffer.from(id.slice(PREFIX.length), 'base64url'));
  return job && isJob(job) ? job : undefined;
}

function isJob(job: BodyFields): job is BodyFields & Job {
  const { created_ms, takes_ms, seed, fails } = job;
  const isTimed = [created_ms, takes_ms, seed].every((value) => typeof value === 'number');
  return isTimed && typeof fails === 'boolean' && !faultIn({ ...job, prompt: '-' });
}

/** How far a job is at a time: first it waits, then it is made. */
export function progressOf({ created_ms, takes_ms, fails }: Job, now_ms: number): Progress {
  const passed = now_ms - created_ms;
  if (passed >= takes_ms) return { status: fails ? 'failed' : 'completed', progress: 100 };
  const progress = Math.max(0, Math.floor((passed / takes_ms) * 100));
  return { status: progress < QUEUED_PERCENT ? 'queued' : 'in_progress', progress };
}

/** One of a job's videos: the same one whenever it is asked for. */
export function content(job: Job, index: number): Promise<Buffer> {
  return readClip({ ...job, seed: (job.seed + index) >>> 0 });
}
