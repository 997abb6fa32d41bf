import { GatewayError } from '../core/errors.js';
import type { Model } from '../core/model.js';
import type { RequestFormat } from './modality.js';

/**
 * The error that a client is told for a body with a fault: the capability that the model lacks for
 * the part at fault, as no other spelling of that part would help, else `error` itself.
 */
export function withMissingCapability(
  error: unknown,
  format: RequestFormat | undefined,
  body: unknown,
  model: Model | undefined,
): unknown {
  if (!model || !(error instanceof GatewayError) || error.code !== 'invalid_request') return error;
  const needs = error.param === null ? [] : (format?.needs?.(body, error.param) ?? []);
  const missing = needs.find(({ capability }) => !model.capabilities.has(capability));
  if (!missing) return error;
  const { param, what } = missing;
  const message = `${param}: this model does not take ${what}.`;
  return new GatewayError('unsupported_capability', message, { param, cause: error });
}
