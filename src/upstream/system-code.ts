/** Such as ECONNREFUSED, ENOTFOUND, CERT_HAS_EXPIRED. */
const CODE = /^[A-Z][A-Z0-9_]{2,63}$/u;
/** Codes with which a library names itself, and which say nothing of the connection. */
const LIBRARIES = /^(?:UND_ERR|ERR_GOT|ERR_STREAM)_/u;
const DEPTH = 4;

/**
 * The code with which the system, or the check of a certificate, has failed a connection; empty
 * where there is none. An error's message may hold an address, so only its code is read.
 */
export function systemCodes(error: unknown, depth = DEPTH): readonly string[] {
  if (!(error instanceof Error) || depth === 0) return [];
  if ('code' in error && isSystems(error.code)) return [error.code];
  const below: unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  for (const one of below) {
    const codes = systemCodes(one, depth - 1);
    if (codes.length > 0) return codes;
  }
  return [];
}

function isSystems(code: unknown): code is string {
  return typeof code === 'string' && CODE.test(code) && !LIBRARIES.test(code);
}
