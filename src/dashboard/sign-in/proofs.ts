import { createHmac, timingSafeEqual } from 'node:crypto';

/** What ties a sign-in at a provider to the browser that began it. */
export interface Proofs {
  state: string;
  nonce: string;
  code_verifier: string;
}

/** All made from the secret in the browser's cookie, so that nothing else need remember them. */
export function proofsOf(secret: string): Proofs {
  const derive = (purpose: string): string =>
    createHmac('sha256', secret).update(purpose).digest('base64url');
  return {
    state: derive('state'),
    nonce: derive('nonce'),
    code_verifier: derive('code_verifier'),
  };
}

/** True where the callback carries exactly this state, once. */
export function bearsState(callback: URL, { state }: Proofs): boolean {
  const [given = '', ...more] = callback.searchParams.getAll('state');
  const [a, b] = [Buffer.from(given), Buffer.from(state)];
  return more.length === 0 && a.length === b.length && timingSafeEqual(a, b);
}
