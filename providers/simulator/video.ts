import type { LocalUpstream, WireReply, WireRequest } from '../../src/core/provider.js';
import { content, faultIn, jobOf, newJob, progressOf, type Job } from './job.js';
import {
  NOT_JSON,
  document,
  parse,
  refuse,
  reject,
  respond,
  textIn,
  type BodyFields,
} from './wire.js';

type Settings = LocalUpstream['settings'];

const DEFAULT_TAKES_MS = 3_000;
const MS_BY_UNIT: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const SLICE_BYTES = 65_536;

const UNKNOWN = { status: 404, type: 'not_found', message: 'There is no such video.' };
const NOT_READY = { status: 409, type: 'conflict', message: 'The video is not finished.' };
const BEGUN = { status: 409, type: 'conflict', message: 'The video is being made.' };
const FAILED = { code: 'drill', message: 'The drill found [fail] in the prompt.' };

/**
 * A wire for video jobs. `POST /videos` begins a job, `GET /videos/ID` answers its status, and
 * `GET /videos/ID/content?index=0` an MP4, or the requested range of it. `POST /videos/ID/cancel`
 * works while the job waits. The setting `video_takes`, such as `20s`, is the duration of a job (3s
 * by default).
 */
export async function answerVideos(
  request: WireRequest,
  url: URL,
  settings: Settings,
): Promise<WireReply> {
  const [, , id, part, ...more] = url.pathname.split('/');
  if (id === undefined)
    return request.method === 'POST' ? submit(request, settings) : refuse(UNKNOWN);
  const job = jobOf(id);
  if (!job || more.length > 0) return refuse(UNKNOWN);
  if (request.method === 'POST' && part === 'cancel') return cancel(id, job);
  if (request.method !== 'GET') return refuse(UNKNOWN);
  if (part === undefined) return document(describe(id, job));
  if (part !== 'content') return refuse(UNKNOWN);
  const { status } = progressOf(job, Date.now());
  if (status !== 'completed') return refuse(NOT_READY);
  const index = url.searchParams.get('index') ?? '0';
  if (!/^\d$/u.test(index) || Number(index) >= job.count) return refuse(UNKNOWN);
  return send(await content(job, Number(index)), rangeOf(request), settings.fail === 'cut');
}

function submit(request: WireRequest, settings: Settings): WireReply {
  const body = parse(request.body);
  if (!body) return refuse(NOT_JSON);
  const fault = faultIn(body);
  if (fault) return reject(...fault);
  const id = newJob(body, Date.now(), takes(settings));
  const job = jobOf(id);
  return job ? document(describe(id, job)) : refuse(UNKNOWN);
}

/** A job is its ID alone, so one that is cancelled is only never asked about again. */
function cancel(id: string, job: Job): WireReply {
  const { status } = progressOf(job, Date.now());
  return status === 'queued' ? document(describe(id, job)) : refuse(BEGUN);
}

function describe(id: string, job: Job): BodyFields {
  const { created_ms, resolution, aspect_ratio, seconds, audio, count } = job;
  const progress = progressOf(job, Date.now());
  const wanted = { resolution, aspect_ratio, seconds, audio, count };
  const error = progress.status === 'failed' ? FAILED : null;
  const created_at = Math.floor(created_ms / 1_000);
  return { id, object: 'video', created_at, ...progress, ...wanted, error };
}

function takes(settings: Settings): number {
  const duration = textIn(settings, 'video_takes') ?? '';
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/u.exec(duration) ?? [];
  return number === undefined ? DEFAULT_TAKES_MS : Number(number) * (MS_BY_UNIT.get(unit) ?? 1);
}

function rangeOf({ headers }: WireRequest): string {
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === 'range');
  return named?.[1] ?? '';
}

/** The bytes, or the one range of them that is asked for; other ways to ask for some get all. */
function send(bytes: Buffer, range: string, isCut: boolean): WireReply {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/u.exec(range) ?? [];
  if (from === '' && to === '') return video(200, bytes, isCut);
  const start = from === '' ? Math.max(0, bytes.length - Number(to)) : Number(from);
  const last = from === '' || to === '' ? bytes.length - 1 : Math.min(Number(to), bytes.length - 1);
  if (start > last) {
    const type = 'invalid_range';
    const none = refuse({ status: 416, type, message: 'The video has no such bytes.' });
    return { ...none, headers: { ...none.headers, 'content-range': `bytes */${bytes.length}` } };
  }
  const place = { 'content-range': `bytes ${start}-${last}/${bytes.length}` };
  return video(206, bytes.subarray(start, last + 1), isCut, place);
}

function video(
  status: number,
  bytes: Buffer,
  isCut: boolean,
  more: Readonly<Record<string, string>> = {},
): WireReply {
  const headers = { 'content-length': String(bytes.length), 'accept-ranges': 'bytes', ...more };
  return respond(status, 'video/mp4', slices(bytes, isCut), headers);
}

async function* slices(bytes: Buffer, isCut: boolean): AsyncGenerator<Uint8Array> {
  const end = isCut ? bytes.length / 2 : bytes.length;
  for (let at = 0; at < end; at += SLICE_BYTES) {
    yield bytes.subarray(at, Math.min(end, at + SLICE_BYTES));
  }
  if (isCut) throw new Error('The drill cut the video.');
}
