import { accountSuspended, GatewayError, unauthorized } from '../core/errors.js';
import type { HoldRefusal } from '../store/store-types.js';
import { perWindow } from '../core/limits.js';
import { formatDollars } from '../lib/money.js';

/** Each kind of refusal, without `admitted`. */
type Reason = HoldRefusal extends infer R
  ? R extends HoldRefusal
    ? Omit<R, 'admitted'>
    : never
  : never;

/** A request whose hold was refused. */
interface RefusedRequest {
  needed_nano: bigint;
  now_ms: number;
  /** The smaller value of a field that would be admitted now. */
  fit?: { field: string; value: number } | undefined;
}

/**
 * The error for a refused hold. Its message has the figures, whether waiting helps, and the smaller
 * value of a field that would be admitted now.
 */
export function paymentRequired(
  reason: Reason,
  { needed_nano, now_ms, fit }: RefusedRequest,
): GatewayError {
  const hint = fit ? ` With ${fit.field} of at most ${fit.value} it would be admitted now.` : '';
  switch (reason.because) {
    case 'balance':
      return new GatewayError('insufficient_balance', insufficient(reason, needed_nano) + hint);
    case 'limit':
      return new GatewayError('key_limit_reached', overLimit(reason, needed_nano) + hint);
    case 'allowance':
      return allowanceReached(reason, { needed_nano, now_ms, hint });
    case 'ended':
      return unauthorized('The API key is not valid.');
    case 'suspended':
      return accountSuspended();
  }
}

function insufficient(
  { balance_nano, held_nano }: { balance_nano: bigint; held_nano: bigint },
  needed_nano: bigint,
): string {
  return (
    `This request may cost up to $${formatDollars(needed_nano)}, but the balance is ` +
    `$${formatDollars(balance_nano)}, of which $${formatDollars(held_nano)} is held. ` +
    waiting(balance_nano >= needed_nano, 'the account needs credit')
  );
}

function overLimit(
  figures: { limit_nano: bigint; spent_nano: bigint; held_nano: bigint },
  needed_nano: bigint,
): string {
  const { limit_nano, spent_nano, held_nano } = figures;
  return (
    `This request may cost up to $${formatDollars(needed_nano)}, but of the ` +
    `$${formatDollars(limit_nano)} that this API key may spend $${formatDollars(spent_nano)} ` +
    `is spent and $${formatDollars(held_nano)} is held. ` +
    waiting(limit_nano - spent_nano >= needed_nano, 'another key has to be used')
  );
}

/** The error for a full window. Its `Retry-After` says when the amount of the window returns. */
function allowanceReached(
  reason: Extract<Reason, { because: 'allowance' }>,
  { needed_nano, now_ms, hint }: { needed_nano: bigint; now_ms: number; hint: string },
): GatewayError {
  const { owner, window, amount_nano, spent_nano, held_nano, ends_ms } = reason;
  const figures =
    `This request may cost up to $${formatDollars(needed_nano)}, but of the ` +
    `$${formatDollars(amount_nano)} that ${owner === 'key' ? 'this API key' : 'the account'} may ` +
    `spend ${perWindow(window)} $${formatDollars(spent_nano)} is spent and ` +
    `$${formatDollars(held_nano)} is held. `;
  if (amount_nano < needed_nano) {
    const never = waiting(false, 'the request costs more than the whole allowance');
    return new GatewayError('allowance_reached', figures + never + hint);
  }
  const held = amount_nano - spent_nano >= needed_nano ? `${waiting(true, '')} ` : '';
  const returns = `The allowance returns at ${new Date(ends_ms).toISOString()}.`;
  const wait_s = Math.max(1, Math.ceil((ends_ms - now_ms) / 1000));
  return new GatewayError('allowance_reached', figures + held + returns + hint, {
    headers: { 'retry-after': String(wait_s) },
  });
}

function waiting(helps: boolean, remedy: string): string {
  if (helps) return 'In-flight requests hold the rest: waiting for them to end may help.';
  return `Waiting does not help: ${remedy}.`;
}

/** The error for an account with nothing available, before its request is read. */
export function nothingAvailable(balance_nano: bigint, held_nano: bigint): GatewayError {
  return new GatewayError(
    'insufficient_balance',
    `The balance is $${formatDollars(balance_nano)}, of which $${formatDollars(held_nano)} is ` +
      `held, so nothing is available. ${waiting(balance_nano > 0n, 'the account needs credit')}`,
  );
}
