import { GatewayError } from '../core/errors.js';
import type { DashboardContext } from './types.js';

/**
 * Refuses a write that another site makes a person's browser send. What the browser says of itself
 * is held against `public_url`; the Host header decides nothing.
 *
 * @throws GatewayError `forbidden`
 */
export function refuseCrossSite({ req }: DashboardContext, own_origin: string): void {
  if (req.headers.origin === own_origin) return;
  if (req.headers['sec-fetch-site'] === 'same-origin') return;
  throw new GatewayError(
    'forbidden',
    `This may only be sent from ${own_origin} itself (the public_url of gateway.yaml).`,
  );
}
