import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { GatewayError } from '../../core/errors.js';

/** What people are told of a sign-in that failed, and what the log is. Neither holds a secret. */
export interface Refusal {
  shown: GatewayError;
  reason: string;
}

/** Puts what came of somebody's return into words. `title` is what people know the provider by. */
export function refusalOf(error: unknown, title: string): Refusal {
  if (error instanceof GatewayError) return { shown: error, reason: error.code };
  return { shown: shownFor(error, title), reason: reasonOf(error) };
}

/** The provider does not answer, or not as it should, before anybody is sent to it. */
export function unavailable(error: unknown, title: string): Refusal {
  return { shown: notNow(title), reason: reasonOf(error) };
}

/** A sign-in that is not the one this browser began, or is over. */
export function startAgain(): GatewayError {
  const message =
    'This sign-in cannot be finished: it has run out, or was used, or began elsewhere.';
  return new GatewayError('invalid_request', `${message} Start again.`);
}

function shownFor(error: unknown, title: string): GatewayError {
  if (error instanceof AuthorizationResponseError && error.error === 'access_denied') {
    return new GatewayError('forbidden', `${title} did not let you in.`);
  }
  if (error instanceof ResponseBodyError && USED.has(error.error)) return startAgain();
  if (error instanceof ClientError && FORGED.has(error.code ?? '')) return startAgain();
  return notNow(title);
}

function notNow(title: string): GatewayError {
  const message = `${title} could not sign you in just now. Try again in a moment.`;
  return new GatewayError('upstream_error', message);
}

/** A code that was used already, or is another's; the second is how GitHub calls it. */
const USED = new Set(['invalid_grant', 'bad_verification_code']);

/** Answers that do not belong to what was asked. */
const FORGED = new Set(['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED']);

/** Codes only: the messages and causes of such errors hold what was sent. */
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
