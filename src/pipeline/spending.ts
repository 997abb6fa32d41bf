import { withFallback } from './fallback.js';
import type { DefaultEndpoint, Operation } from './modality.js';
import { fact, type Money, type Need } from './stage.js';
import type { Answer, Sending, Work } from './work.js';

/** An operation that sends the work of a modality to its upstreams. */
export interface Spending {
  name: string;
  modality: string;
  /** The format of its request body. */
  format: string;
  gives: Need;
  /** `spends` where the request charges its answer, `hands-over` where a task does it later. */
  money: Money;
}

/** The endpoint at `at` that holds money, spends it on the work of a modality, and settles it. */
export function spendingEndpoint(
  name: string,
  at: string,
  { modality, format }: { modality: string; format: string },
): DefaultEndpoint {
  const stages = [
    'auth',
    { validate: format },
    { route: { capability: modality } },
    'balance',
    { transform: modality },
    'meter',
  ];
  return { name, at, stages };
}

export function spending({ name, modality, format, gives, money }: Spending): Operation {
  return {
    name,
    format,
    shape: { needs: ['caller', 'model', `work:${modality}`], gives: [gives], money },
    run: (state, client, services) => {
      const { request_id, endpoint } = state;
      const caller = fact(state, 'caller');
      const hold = fact(state, 'hold');
      const sending = { request_id, endpoint, caller, hold, client, services };
      return send(fact(state, 'work'), sending);
    },
  };
}

async function send(work: Work, sending: Sending): Promise<Answer> {
  const { request_id, client, services } = sending;
  const attempts = { request_id, upstreams: work.upstreams, client };
  try {
    return await withFallback(attempts, services, (upstream) => work.send(upstream, sending));
  } catch (error) {
    await work.abandon?.(error, sending);
    throw error;
  }
}
