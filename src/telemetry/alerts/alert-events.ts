import { createHmac } from 'node:crypto';
import { formatDollars } from '../../lib/money.js';
import { differenceText, type Difference } from '../boxes.js';

/** An event that an operator is alerted to. Amounts are in nano-dollars. */
export type AlertEvent =
  | { type: 'balance.low'; account: string; balance_nano: bigint; threshold_nano: bigint }
  | KeyBudget
  | { type: 'provider.down'; provider: string; failed: number; last_fault: string }
  | { type: 'cost.uncollected'; account: string; model: string; uncollected_nano: bigint }
  | { type: 'reload.refused'; reason: string }
  | { type: 'store.away'; journal_charges: number }
  | ({ type: 'boxes.differ' } & Difference);

interface KeyBudget {
  type: 'key.budget';
  account: string;
  key: string;
  percent: 80 | 100;
  limit_nano: bigint;
  spent_nano: bigint;
}

/** The body of a webhook, by `schemas/alert.schema.json`. `id` is the same in each retry. */
export function alertBody(event: AlertEvent, id: string, now_ms: number): string {
  const { type, ...facts } = event;
  const data = Object.fromEntries(
    Object.entries(facts).map(([name, value]) =>
      typeof value === 'bigint'
        ? [name.replace(/_nano$/u, ''), formatDollars(value)]
        : [name, value],
    ),
  );
  return JSON.stringify({
    id,
    type,
    created: new Date(now_ms).toISOString(),
    message: messageOf(event),
    data,
  });
}

function messageOf(event: AlertEvent): string {
  switch (event.type) {
    case 'balance.low':
      return `The account ${event.account} has ${formatDollars(event.balance_nano)} dollars left.`;
    case 'key.budget':
      return `The key ${event.key} of ${event.account} has spent ${event.percent} % of its limit.`;
    case 'provider.down':
      return `All recent calls to ${event.provider} have failed (${event.last_fault}).`;
    case 'cost.uncollected': {
      const { account, model } = event;
      const lost = formatDollars(event.uncollected_nano);
      return `${lost} dollars of an answer of ${model} to ${account} were not collected.`;
    }
    case 'reload.refused':
      return `An edited gateway.yaml was refused, and the older one serves: ${event.reason}.`;
    case 'store.away':
      return `The store takes no writes; ${event.journal_charges} charges wait on disk.`;
    case 'boxes.differ':
      return `The boxes on the store differ in their ${differenceText(event)}.`;
  }
}

/**
 * The value of the header `tollgate-signature`: the time in seconds since 1970, and the HMAC-SHA256
 * of `TIME.BODY` in hex. A receiver that refuses old times is safe from replayed alerts.
 */
export function signatureOf(body: string, secret: string, now_ms: number): string {
  const time_s = Math.floor(now_ms / 1_000);
  const hmac = createHmac('sha256', secret).update(`${time_s}.${body}`).digest('hex');
  return `t=${time_s},v1=${hmac}`;
}
