import { withFallback } from './fallback.js';
import type { DefaultEndpoint, Operation } from './modality.js';
import { RequestNotes } from './request-notes.js';
import { fact, type Money, type Need } from './stage.js';

/**
 * An endpoint at `at` (method and path) that holds money, calls the modality and charges the
 * answer.
 */
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

/** What tells one spending operation from another. */
export interface SpendingOptions {
  name: string;
  modality: string;
  /** The format of its request body. */
  format: string;
  gives: Need;
  /** `spends` if the request charges its answer, `hands-over` if a task charges it later. */
  money: Money;
}

/** The operation of `transform` that sends the work of a modality to its upstreams. */
export function spendingOperation({
  name,
  modality,
  format,
  gives,
  money,
}: SpendingOptions): Operation {
  return {
    name,
    format,
    shape: { needs: ['caller', 'model', `work:${modality}`], gives: [gives], money },
    run: (state, client, services) => {
      const { request_id, endpoint } = state;
      const caller = fact(state, 'caller');
      const hold = fact(state, 'hold');
      const notes = state.notes ?? new RequestNotes();
      const context = { request_id, endpoint, caller, hold, client, notes, services };
      return withFallback(fact(state, 'work'), context);
    },
  };
}
