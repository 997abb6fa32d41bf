import { isRecord } from '../lib/objects.js';
import type { ServiceAccount } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import { systemCodes } from './connection-error.js';

/** An access token, and the ms for which it is valid from now on. */
export interface Token {
  value: string;
  life_ms: number;
}

/** The token server for key files that name none. */
export const GOOGLE_TOKEN_URL = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const REFUSED = "The upstream refused the gateway's credentials.";
const TIMEOUT_MS = 10_000;

/** Whether an address is at one of Google's hosts, over TLS. */
export function isAtGoogle({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && /(^|\.)googleapis\.com$/u.test(hostname);
}

/**
 * Asks for an access token with a signed assertion. Throws `UpstreamError` (credentials or
 * unreachable). Its cause holds nothing of the request.
 */
export async function fetchToken(account: ServiceAccount): Promise<Token> {
  // The library takes long to load, and only a service account needs it.
  const { JWT } = await import('google-auth-library');
  const client = new JWT({
    email: account.client_email,
    key: account.private_key,
    scopes: [SCOPE],
    transporterOptions: { timeout: TIMEOUT_MS },
  });
  client.transporter.interceptors.request.add({
    resolved: (config) => {
      config.url = new URL(account.token_url);
      // The request that waits for the token can fall back to another upstream.
      config.retryConfig = { retry: 0 };
      return Promise.resolve(config);
    },
  });
  const began_ms = Date.now();
  try {
    const { access_token, expiry_date } = await client.authorize();
    if (!access_token) throw new Error('The token server gave no token.');
    return { value: access_token, life_ms: Math.max(0, (expiry_date ?? 0) - began_ms) };
  } catch (error) {
    throw faultOf(error);
  }
}

/**
 * Keeps only the message of a library's error: the error also holds the request and its assertion.
 */
function faultOf(error: unknown): UpstreamError {
  const message = error instanceof Error ? error.message.slice(0, 300) : '';
  const cause = new Error(`No access token: ${message}`);
  if (wasRefused(error)) return new UpstreamError('credentials', REFUSED, undefined, { cause });
  const options = { cause, codes: systemCodes(error) };
  return new UpstreamError('unreachable', 'The upstream is unreachable.', undefined, options);
}

/**
 * Whether the token server refused the account. False if the server cannot be reached, or fails.
 */
function wasRefused(error: unknown): boolean {
  // An error from before the request was sent holds no request.
  if (!isRecord(error) || !('config' in error)) return true;
  const { response } = error;
  const status = isRecord(response) ? response.status : undefined;
  return typeof status === 'number' && status < 500 && status !== 429;
}
