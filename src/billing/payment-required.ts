import { accountSuspended, GatewayError, unauthorized } from '../core/errors.js';
import type { HoldRefusal } from '../store/store-types.js';
import { formatDollars } from '../lib/money.js';

/** Any kind of refusal without `admitted`. */
type Reason = HoldRefusal extends infer R
  ? R extends HoldRefusal
    ? Omit<R, 'admitted'>
    : never
  : never;

/**
 * What the client is told about a hold that was refused: with figures, whether to wait, and which
 * smaller value of which field would be admitted now.
 */
export function paymentRequired(
  reason: Reason,
  needed_nano: bigint,
  fit?: { field: string; value: number },
): GatewayError {
  const said = fit ? ` With ${fit.field} of at most ${fit.value} it would be admitted now.` : '';
  switch (reason.because) {
    case 'balance':
      return new GatewayError('insufficient_balance', insufficient(reason, needed_nano) + said);
    case 'limit':
      return new GatewayError('key_limit_reached', overLimit(reason, needed_nano) + said);
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

function waiting(helps: boolean, remedy: string): string {
  if (helps) return 'In-flight requests hold the rest: waiting for them to end may help.';
  return `Waiting does not help: ${remedy}.`;
}

/** What a client is told whose account has nothing available, before its request is read. */
export function nothingAvailable(balance_nano: bigint, held_nano: bigint): GatewayError {
  return new GatewayError(
    'insufficient_balance',
    `The balance is $${formatDollars(balance_nano)}, of which $${formatDollars(held_nano)} is ` +
      `held, so nothing is available. ${waiting(balance_nano > 0n, 'the account needs credit')}`,
  );
}
