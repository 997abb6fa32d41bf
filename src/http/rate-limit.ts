import { GatewayError } from '../core/errors.js';
import type { AddressLimiter } from '../lib/rate-limiter.js';

/**
 * Counts one more request of an address. Throws `rate_limited` (429) if there are too many.
 * `plural` names the requests in the message, such as `sign-ins`.
 */
export async function enforceRate(
  limiter: AddressLimiter,
  address: string,
  per_minute: number,
  plural: string,
): Promise<void> {
  const wait_ms = await limiter.consume(address, per_minute);
  if (wait_ms === 0) return;
  const seconds = Math.ceil(wait_ms / 1000);
  throw new GatewayError(
    'rate_limited',
    `Too many ${plural} from your address: try again in ${seconds} s.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
