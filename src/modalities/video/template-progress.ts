import { pointer as join, type Source } from '../../yaml/source.js';
import { isRecord } from '../../lib/objects.js';
import type { Provider } from '../../core/provider.js';
import { classifyError } from '../../upstream/classify-error.js';
import type { VideoCodec } from './codec.js';
import { compile } from '../../mapping/compile.js';
import { checkAnswer } from '../../mapping/plain-text.js';
import { progressScope, type ScopeFields } from '../../mapping/template-scopes.js';
import { evaluate } from '../../mapping/scope.js';
import type { ContentSource } from '../../core/task.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Operations } from './template-types.js';

/** Marks the state of a task that is done, and whose result is requested next. */
export const RESULT = '$result';

/** The values that a status template may have. */
export const STATUSES = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const;

/** What a list of videos has. */
const VIDEOS = { name: 'videos', wanted: ['url'], takesText: true };

const UNKNOWN = 'The upstream gave no reason.';

/** Makes the function that reads polls. A text in `error` marks a failed task. */
export function compileProgress(
  source: Source,
  operations: Operations,
  state: ScopeFields,
): VideoCodec['polled'] {
  const parts = (operation: 'video.status' | 'video.result', name: string, value: unknown) =>
    compile(value, `/operations${join(operation, 'response', name)}`, {
      source,
      place: progressScope(state),
    });
  const status = operations['video.status']?.response;
  const result = operations['video.result']?.response;
  for (const operation of ['video.status', 'video.result'] as const) {
    const answer = operations[operation]?.response ?? {};
    checkAnswer(source, `/operations${join(operation, 'response')}`, answer, VIDEOS);
  }
  const statusParts = {
    status: parts('video.status', 'status', status?.status),
    error: parts('video.status', 'error', status?.error),
    videos: status?.videos && parts('video.status', 'videos', status.videos),
  };
  const resultParts = {
    error: parts('video.result', 'error', result?.error),
    videos: parts('video.result', 'videos', result?.videos),
  };
  const credentials = operations['video.content']?.credentials ?? false;
  return (answer, known, { model, provider }) => {
    const { status: code, body } = answer;
    const names = { body, status: code, state: known, model };
    const read = (template: Parameters<typeof evaluate>[0]) => evaluate(template, body, names);
    const isDone = known[RESULT] === true;
    const error = textOfValue(read(isDone ? resultParts.error : statusParts.error));
    if (code < 200 || code > 299) {
      if (error !== undefined) return { status: 'FAILED', error };
      throw refusal(code, body, provider);
    }
    if (isDone) {
      if (error !== undefined) return { status: 'FAILED', error };
      return { status: 'COMPLETED', videos: places(read(resultParts.videos), credentials) };
    }
    const word = STATUSES.find((one) => one === read(statusParts.status));
    switch (word) {
      case undefined:
        throw new UpstreamError('broken', 'The upstream returned no status of the video.');
      case 'FAILED':
        return { status: 'FAILED', error: error ?? UNKNOWN };
      case 'COMPLETED':
        if (!statusParts.videos) return { state: { ...known, [RESULT]: true } };
        return { status: 'COMPLETED', videos: places(read(statusParts.videos), credentials) };
      default:
        return { status: word };
    }
  };
}

function refusal(status: number, body: unknown, provider: Provider): UpstreamError {
  return classifyError(status, {}, typeof body === 'string' ? body : written(body), provider);
}

/** The body as JSON; empty if it is nested too deep. */
function written(body: unknown): string {
  try {
    return JSON.stringify(body) ?? '';
  } catch {
    return '';
  }
}

function textOfValue(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The sources of videos, from `{ url, credentials }` or URLs. Items without a URL are left out. */
function places(value: unknown, standard: boolean): ContentSource[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((item) => {
    const { url, credentials = standard } = isRecord(item) ? item : { url: item };
    if (typeof url !== 'string' || !/^(https?:\/\/|data:|\/(?!\/))\S*$/iu.test(url)) return [];
    return [{ request: { method: 'GET', path: url, credentials: credentials === true } }];
  });
}
