import { GatewayError } from '../core/errors.js';
import type { DashboardContext } from './types.js';

/**
 * Refuses a write that another site makes a browser send. It compares the browser's headers with
 * `public_url`, never with the Host header. Throws `forbidden`.
 */
export function refuseCrossSite({ req }: DashboardContext, own_origin: string): void {
  if (req.headers.origin === own_origin) return;
  if (req.headers['sec-fetch-site'] === 'same-origin') return;
  throw new GatewayError(
    'forbidden',
    `This may only be sent from ${own_origin} itself (the public_url of gateway.yaml).`,
  );
}
