import { pointer as join, type Source } from '../../yaml/source.js';
import { isAbsolute, isOwn, urlOf } from '../../upstream/provider-url.js';
import { addressFrom } from '../../mapping/address.js';
import { compile } from '../../mapping/compile.js';
import { headersOf } from '../../mapping/headers.js';
import { questionPlace, type Fields } from '../../mapping/template-scopes.js';
import { RESULT } from './template-progress.js';
import { evaluate } from '../../mapping/scope.js';
import type { JsonObject } from '../../core/json.js';
import type { VideoRequest } from '../../core/task.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';
import type { Operations } from './template-types.js';

type Ask = (state: JsonObject, upstream: Upstream) => VideoRequest;

/** The questions about a task: how far it is, and once it is done, what it has made. */
export function compileQuestion(source: Source, operations: Operations, state: Fields): Ask {
  const question = (operation: 'video.status' | 'video.result'): Ask => {
    const { path, headers } = operations[operation] ?? {};
    const at = `/operations${join(operation, 'path')}`;
    const template = compile(path, at, { source, place: questionPlace(state), address: true });
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

/** How an upstream is told to drop a task; undefined where the manifest does not say. */
export function compileCancel(
  source: Source,
  operations: Operations,
  state: Fields,
): Ask | undefined {
  const told = operations['video.cancel'];
  if (!told) return undefined;
  const at = `/operations${join('video.cancel', 'path')}`;
  const template = compile(told.path, at, { source, place: questionPlace(state), address: true });
  const sent = headersOf(told.headers);
  return (known, upstream) => {
    const made = evaluate(template, known, { state: known, model: upstream.model });
    const path = ownAddress(addressFrom(made), upstream);
    return { method: told.method ?? 'POST', path, headers: sent, credentials: true };
  };
}

/** An address that an upstream gave may lead only to where we asked it. */
function ownAddress(address: string, { provider }: Upstream): string {
  if (!isAbsolute(address)) return address;
  if (URL.canParse(address) && isOwn(provider, urlOf(provider, address))) return address;
  const message = 'The upstream tells to ask about the task at an address that is not its own.';
  throw new UpstreamError('broken', message);
}
