import type { CustomFetch } from 'openid-client';
import { sendSmall } from '../../upstream/small-request.js';

/** How long an identity provider may take for one answer, in seconds. */
export const TIMEOUT_S = 10;
/** Far larger than any answer of an identity provider. */
const LIMITS = { timeout_ms: TIMEOUT_S * 1_000, max_bytes: 1024 ** 2 };

/** Requests an identity provider. The library sends forms and reads JSON. */
export const fetchIdentity: CustomFetch = (url, { method, headers, body, signal }) =>
  sendSmall(
    url,
    {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      body: body instanceof URLSearchParams ? body.toString() : undefined,
      signal,
    },
    LIMITS,
  );
