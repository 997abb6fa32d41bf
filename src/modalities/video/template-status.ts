import { pointer as join, type Source } from '../../yaml/source.js';
import { isAbsolute, isOwn, urlOf } from '../../upstream/upstream-request.js';
import { addressFrom } from '../../mapping/address.js';
import { compile } from '../../mapping/compile.js';
import { headersOf } from '../../mapping/headers.js';
import { statusRequestScope, type ScopeFields } from '../../mapping/template-scopes.js';
import { RESULT } from './template-progress.js';
import { evaluate } from '../../mapping/scope.js';
import type { JsonObject } from '../../core/json.js';
import type { VideoRequest } from '../../core/task.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';
import type { Operations } from './template-types.js';

type PollRequest = (state: JsonObject, upstream: Upstream) => VideoRequest;

/** Makes the polls of a task: for its status, and once it is done, for its result. */
export function compileStatusRequest(
  source: Source,
  operations: Operations,
  state: ScopeFields,
): PollRequest {
  const question = (operation: 'video.status' | 'video.result'): PollRequest => {
    const { path, headers } = operations[operation] ?? {};
    const at = `/operations${join(operation, 'path')}`;
    const template = compile(path, at, { source, place: statusRequestScope(state), address: true });
    const sent = headersOf(headers);
    return (known, upstream) => {
      const made = evaluate(template, known, { state: known, model: upstream.model });
      const address = ownAddress(addressFrom(made), upstream);
      return { method: 'GET', path: address, headers: sent, credentials: true };
    };
  };
  const status = question('video.status');
  const result = question('video.result');
  return (known, upstream) => (known[RESULT] === true ? result : status)(known, upstream);
}

/** Makes the request that drops a task; undefined if the manifest has none. */
export function compileCancel(
  source: Source,
  operations: Operations,
  state: ScopeFields,
): PollRequest | undefined {
  const operation = operations['video.cancel'];
  if (!operation) return undefined;
  const at = `/operations${join('video.cancel', 'path')}`;
  const template = compile(operation.path, at, {
    source,
    place: statusRequestScope(state),
    address: true,
  });
  const sent = headersOf(operation.headers);
  return (known, upstream) => {
    const made = evaluate(template, known, { state: known, model: upstream.model });
    const path = ownAddress(addressFrom(made), upstream);
    return { method: operation.method ?? 'POST', path, headers: sent, credentials: true };
  };
}

/** Checks an address that an upstream gave: it must be on the upstream's own host. */
function ownAddress(address: string, { provider }: Upstream): string {
  if (!isAbsolute(address)) return address;
  if (URL.canParse(address) && isOwn(provider, urlOf(provider, address))) return address;
  const message = 'The upstream gave an address to poll for the task that is not on its own host.';
  throw new UpstreamError('broken', message);
}
