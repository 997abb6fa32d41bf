import { nameHint } from '../../yaml/did-you-mean.js';
import { pointer as join, type Source } from '../../yaml/source.js';
import { isRecord } from '../../lib/objects.js';
import type { VideoCodec } from './codec.js';
import { unsupportedValue } from '../../mapping/unsupported-value.js';
import { addressFrom } from '../../mapping/address.js';
import { applyOverrides } from '../../mapping/overrides.js';
import { compile } from '../../mapping/compile.js';
import { headersOf } from '../../mapping/headers.js';
import { asJson, asState } from './template-json.js';
import {
  TEMPLATE_SCOPES,
  type ScopeFields,
  type TemplateScope,
} from '../../mapping/template-scopes.js';
import { compileProgress, RESULT, STATUSES } from './template-progress.js';
import { compileCancel, compileStatusRequest } from './template-status.js';
import { evaluate, type Template } from '../../mapping/scope.js';
import type { Operations } from './template-types.js';

/**
 * The codec of a manifest's templates for videos. `video.submit` makes the request from the call
 * and, from its answer, the state. `video.status` polls by the state until it is COMPLETED or
 * FAILED. `video.result` follows once, unless the status has the videos already.
 */
export function mapVideos(source: Source, operations: Operations): VideoCodec {
  const submit = operations['video.submit'] ?? {};
  checkStatuses(source, operations);
  checkVideos(source, operations);
  const place = `/operations${join('video.submit')}`;
  const at = (where: TemplateScope, part: string, value: unknown, address = false): Template =>
    compile(value, place + part, { source, place: where, address });
  const path = at(TEMPLATE_SCOPES.submit_request, '/path', submit.path, true);
  const request = at(TEMPLATE_SCOPES.submit_request, '/request', submit.request);
  const remember = at(TEMPLATE_SCOPES.submit_response, '/response/state', submit.response?.state);
  const state = fieldsOf(submit.response?.state);
  const poll = compileStatusRequest(source, operations, state);
  const cancel = compileCancel(source, operations, state);
  const headers = headersOf(submit.headers);
  return {
    refuse(call) {
      const refusal = unsupportedValue({ ...call }, submit.accepts, 'parameters.');
      return refusal && { param: refusal.field, message: refusal.message };
    },
    submit(call, upstream) {
      const names = { call, model: upstream.model };
      const body = asJson(applyOverrides(evaluate(request, call, names), upstream));
      const address = addressFrom(evaluate(path, call, names));
      return { method: 'POST', path: address, headers, body, credentials: true };
    },
    submitted(body, call, upstream) {
      const made = asState(evaluate(remember, body, { call, body, model: upstream.model }));
      // Fails now, while the client can still get the error, if the task cannot be polled.
      poll(made, upstream);
      if (operations['video.result']) poll({ ...made, [RESULT]: true }, upstream);
      return made;
    },
    poll,
    polled: compileProgress(source, operations, state),
    ...(cancel && { cancel }),
  };
}

/** The fields of `$state` that templates may use. */
function fieldsOf(state: unknown): ScopeFields {
  const names = isRecord(state) ? Object.keys(state) : [];
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** What providers call the statuses. */
const MEANT: readonly [status: (typeof STATUSES)[number], words: RegExp][] = [
  ['IN_QUEUE', /^(?:queued|pending|waiting|submitted|created|starting)$/i],
  ['IN_PROGRESS', /^(?:running|processing|in.progress|active|started|generating)$/i],
  ['COMPLETED', /^(?:done|success|succeeded|complete|finished|ready|ok)$/i],
  ['FAILED', /^(?:error|failure|fail|cancell?ed|expired|aborted|rejected)$/i],
];

/** Reports values of `map` that are not a status. */
function checkStatuses(source: Source, operations: Operations): void {
  const status: unknown = operations['video.status']?.response?.status;
  const words = isRecord(status) ? status.map : undefined;
  if (!isRecord(words)) return;
  for (const [word, meaning] of Object.entries(words)) {
    if (STATUSES.some((known) => known === meaning)) continue;
    const place = `/operations${join('video.status', 'response', 'status', 'map', word)}`;
    const message = `${source.word(place)} is no status`;
    const text = typeof meaning === 'string' ? meaning : '';
    const [meant] = MEANT.find(([, words]) => words.test(text)) ?? [];
    const hint = meant === undefined ? nameHint(text, STATUSES) : `write ${meant}`;
    source.fault(place, { code: 'bad_template', message, hint });
  }
}

function checkVideos(source: Source, operations: Operations): void {
  const { 'video.status': status, 'video.result': result } = operations;
  if (result || !status?.response || status.response.videos !== undefined) return;
  const message = 'nothing says where the videos are';
  const hint = 'add "video.result", or "videos" to the response of "video.status"';
  const place = `/operations${join('video.status')}`;
  source.fault(place, { code: 'missing_key', message, hint, at: 'key' });
}
