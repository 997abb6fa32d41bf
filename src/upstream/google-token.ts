import { isRecord } from '../lib/is-record.js';
import type { ServiceAccount } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';

export interface Token {
  value: string;
  life_ms: number;
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const REFUSED = "The upstream refused the gateway's credentials.";
const PATIENCE_MS = 10_000;

/**
 * Asks for an access token with a signed assertion. Throws `UpstreamError` (credentials or
 * unreachable), whose cause has none of what was sent.
 */
export async function fetchToken(account: ServiceAccount): Promise<Token> {
  // Only who has a service account waits for this library to load.
  const { JWT } = await import('google-auth-library');
  const client = new JWT({
    email: account.client_email,
    key: account.private_key,
    scopes: [SCOPE],
    transporterOptions: { timeout: PATIENCE_MS },
  });
  client.transporter.interceptors.request.add({
    resolved: (config) => {
      config.url = new URL(account.token_url);
      // Whoever waits for the token may have another upstream to ask.
      config.retryConfig = { retry: 0 };
      return Promise.resolve(config);
    },
  });
  const asked_ms = Date.now();
  try {
    const { access_token, expiry_date } = await client.authorize();
    if (!access_token) throw new Error('The token server gave no token.');
    return { value: access_token, life_ms: Math.max(0, (expiry_date ?? 0) - asked_ms) };
  } catch (error) {
    throw faultOf(error);
  }
}

/** The library's own errors hold the whole request, assertion included: none of it is kept. */
function faultOf(error: unknown): UpstreamError {
  const said = error instanceof Error ? error.message.slice(0, 300) : '';
  const options = { cause: new Error(`No access token: ${said}`) };
  return wasRefused(error)
    ? new UpstreamError('credentials', REFUSED, undefined, options)
    : new UpstreamError('unreachable', 'The upstream is unreachable.', undefined, options);
}

/** True unless the token server could not be asked, or is out of order. */
function wasRefused(error: unknown): boolean {
  // What went wrong before anything was sent has no request with it.
  if (!isRecord(error) || !('config' in error)) return true;
  const { response } = error;
  const status = isRecord(response) ? response['status'] : undefined;
  return typeof status === 'number' && status < 500 && status !== 429;
}
