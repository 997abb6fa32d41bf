import type { Provider } from '../../src/core/provider.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { parseJson } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';

export function broken(message: string): UpstreamError {
  return new UpstreamError('broken', message);
}

/** The error of a request that this wire cannot express. `param` is the client's field. */
export function unsupported(message: string, param: string): UpstreamError {
  return new UpstreamError('unsupported', message, undefined, { param });
}

/** The statuses that the exceptions of a stream would have had outside of one. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['validationexception', 400],
  ['accessdeniedexception', 403],
  ['resourcenotfoundexception', 404],
  ['modelerrorexception', 424],
  ['modelstreamerrorexception', 424],
  ['throttlingexception', 429],
  ['modelnotreadyexception', 429],
  ['internalserverexception', 500],
  ['serviceunavailableexception', 503],
]);

/** The error of a frame that is an exception, whose payload is JSON, or should be. */
export function exceptionError(name: string, payload: string, provider: Provider): UpstreamError {
  const status = STATUSES.get(name.toLowerCase()) ?? 500;
  const error = { type: name, code: status, message: messageIn(payload) };
  return classifyErrorInside({ error }, provider);
}

function messageIn(payload: string): string {
  const body = parseJson(payload);
  const message = isRecord(body) ? (body.message ?? body.Message) : undefined;
  return typeof message === 'string' ? message : '';
}
