import { createHmac } from 'node:crypto';

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
