import { GatewayError } from '../core/errors.js';

/** The most levels of objects and lists in a part of a request that is read level by level. */
export const NESTING = 200;

/** Throws `GatewayError` for a value that is nested too deep for JSON.stringify. */
export function refuseDeep(param: string, value: unknown): void {
  if (isDeeper(value, NESTING)) throw tooDeep(param);
}

/** The error for a field that is nested too deep. */
export function tooDeep(param: string): GatewayError {
  const message = `${param} must not be nested more than ${NESTING} levels deep.`;
  return new GatewayError('invalid_request', message, { param });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const all: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const inner of all) if (isDeeper(inner, levels - 1)) return true;
  return false;
}
