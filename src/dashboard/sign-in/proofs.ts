import { createHmac } from 'node:crypto';

/** The values that tie a sign-in at a provider to the browser that began it. */
export interface Proofs {
  state: string;
  nonce: string;
  code_verifier: string;
}

/** Derives all proofs from the secret in the browser's cookie, so nothing else has to be stored. */
export function proofsOf(secret: string): Proofs {
  const derive = (purpose: string): string =>
    createHmac('sha256', secret).update(purpose).digest('base64url');
  return {
    state: derive('state'),
    nonce: derive('nonce'),
    code_verifier: derive('code_verifier'),
  };
}
