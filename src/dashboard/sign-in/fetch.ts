import type { CustomFetch } from 'openid-client';

/** How long an identity provider may take for one answer, in seconds. */
export const TIMEOUT_S = 10;
/** Far larger than any answer of an identity provider. */
const MAX_BYTES = 1024 ** 2;

type RequestBody = NonNullable<RequestInit['body']> | null;

/** Requests an identity provider: follows no redirect, and limits the size of the answer. */
export const fetchIdentity: CustomFetch = async (url, { body, ...options }) => {
  const response = await fetch(url, { ...options, body: (body ?? null) as RequestBody });
  const { status, statusText, headers } = response;
  if (response.body === null) return response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('An identity provider answered too much.');
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status, statusText, headers });
};
