import { UpstreamError, type Reached } from '../core/upstream-error.js';

/** System codes such as ECONNREFUSED, ENOTFOUND and CERT_HAS_EXPIRED. */
const CODE = /^[A-Z][A-Z0-9_]{2,63}$/u;
/** Codes of libraries, which do not tell why the connection failed. */
const LIBRARIES = /^(?:UND_ERR|ERR_GOT|ERR_STREAM)_/u;
const MAX_DEPTH = 4;

/**
 * The code of the system, or of the certificate check, for a failed connection; empty if there is
 * none. An error's message may hold an address, so only its code is read.
 */
export function systemCodes(error: unknown, depth = MAX_DEPTH): readonly string[] {
  if (!(error instanceof Error) || depth === 0) return [];
  if ('code' in error && isSystemCode(error.code)) return [error.code];
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  for (const cause of causes) {
    const codes = systemCodes(cause, depth - 1);
    if (codes.length > 0) return codes;
  }
  return [];
}

function isSystemCode(code: unknown): code is string {
  return typeof code === 'string' && CODE.test(code) && !LIBRARIES.test(code);
}

/**
 * The error of a call that a library reports as failed. Only a call that was not sent is
 * `unreachable`: the upstream may have carried out any other.
 */
export function connectionError(error: Error, reached: Reached): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (error.cause instanceof UpstreamError) return error.cause;
  const options = { cause: error, codes: systemCodes(error), reached };
  if (reached === 'nothing') {
    return new UpstreamError('unreachable', 'The upstream is unreachable.', undefined, options);
  }
  const message =
    reached === 'answer'
      ? "The upstream's answer was cut off."
      : 'The upstream closed the connection without an answer.';
  return new UpstreamError('broken', message, undefined, options);
}
