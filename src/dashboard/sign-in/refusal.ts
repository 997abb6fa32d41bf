import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { GatewayError } from '../../core/errors.js';

/**
 * The message of a failed sign-in for the person, and the one for the log. Neither holds a secret.
 */
export interface Refusal {
  public_error: GatewayError;
  reason: string;
}

/** Describes a failed sign-in. `title` is the provider's name for people. */
export function refusalOf(error: unknown, title: string): Refusal {
  if (error instanceof GatewayError) return { public_error: error, reason: error.code };
  return { public_error: shownFor(error, title), reason: reasonOf(error) };
}

/** Describes a provider that fails before the browser is redirected to it. */
export function unavailable(error: unknown, title: string): Refusal {
  return { public_error: temporaryFailure(title), reason: reasonOf(error) };
}

/** The sign-in is not the one that this browser began, or it has expired. */
export function startAgain(): GatewayError {
  const message = 'This sign-in has expired, was used before, or was started in another browser.';
  return new GatewayError('invalid_request', `${message} Start again.`);
}

function shownFor(error: unknown, title: string): GatewayError {
  if (error instanceof AuthorizationResponseError && error.error === 'access_denied') {
    return new GatewayError('forbidden', `${title} did not let you in.`);
  }
  if (error instanceof ResponseBodyError && USED.has(error.error)) return startAgain();
  if (error instanceof ClientError && FORGED.has(error.code ?? '')) return startAgain();
  return temporaryFailure(title);
}

function temporaryFailure(title: string): GatewayError {
  const message = `${title} could not sign you in just now. Try again in a moment.`;
  return new GatewayError('upstream_error', message);
}

/** A code that was used before, or was issued to another client. GitHub uses the second word. */
const USED = new Set(['invalid_grant', 'bad_verification_code']);

/** Answers that do not match the request. */
const FORGED = new Set(['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED']);

/** Logs codes only: the messages and causes of such errors hold parts of the request. */
function reasonOf(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    return word(error.error);
  }
  if (error instanceof WWWAuthenticateChallengeError) return `status ${error.status}`;
  const causes = [error, causeOf(error), causeOf(causeOf(error))];
  return causes.map(codeOf).filter(Boolean).join(' ') || 'unknown';
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as { code?: unknown };
  return word(typeof code === 'string' ? code : error.name);
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function word(text: string): string {
  return text.replaceAll(/[^\w.-]/gu, '').slice(0, 64);
}
