import type { Bill } from '../billing/bill.js';
import { OptionError } from '../core/errors.js';
import { TOKEN_CLASSES } from '../core/usage.js';
import { formatDollars } from '../lib/money.js';
import type { Services } from '../pipeline/services.js';
import { fact, type Stage, type State } from '../pipeline/stage.js';
import { recordWithCharge } from '../pipeline/request-record.js';
import type { PaidAnswer } from '../pipeline/work.js';

/**
 * Charges an answer: by the usage that the upstream reports, or by an estimate where that is
 * missing or impossible. The last byte of the answer is sent after the charge is committed. `meter:
 * once` charges a task when its result is fetched for the first time.
 */
export const meter: Stage = {
  name: 'meter',
  shape: (option) => {
    if (isOnce(option)) {
      return {
        needs: ['caller', 'task', 'answer:task'],
        gives: ['receipt'],
        money: 'settles-task',
      };
    }
    return {
      needs: ['caller', 'model', 'work', 'hold', 'answer'],
      gives: ['receipt'],
      money: 'settles',
    };
  },
  create: (option, services) => {
    const charge = isOnce(option) ? noteBill : settle;
    return async (ctx, next) => {
      const { state } = ctx;
      const answer = fact(state, 'answer');
      if ('deliver' in answer) {
        state.receipt = await answer.deliver((bill) => charge(state, answer, bill, services));
      }
      await next();
    };
  },
};

function isOnce(option: unknown): boolean {
  if (option === undefined) return false;
  if (option === 'once') return true;
  throw new OptionError('the only option of meter is "once"', ['once']);
}

/** Keeps the bill of a task that is charged already, in case its delivery breaks off. */
function noteBill(state: State, _answer: PaidAnswer, bill: Bill): Promise<Bill> {
  state.receipt = bill;
  return Promise.resolve(bill);
}

async function settle(
  state: State,
  answer: PaidAnswer,
  bill: Bill,
  services: Services,
): Promise<Bill> {
  const hold = fact(state, 'hold');
  // It is written before the charge, so that a fault of its writer is not charged.
  const body = answer.body(bill);
  state.answer = { ...answer, body: () => body };
  const kept = hold.idempotency && { status: 200, text: JSON.stringify(body) };
  const { usage, cost_nano, not_owed_nano, estimated } = bill;
  // There was no output, so there is no charge: `balance` releases the hold.
  if (cost_nano === 0n && usage.completion_tokens === 0) {
    await hold.answer(kept);
    return bill;
  }
  const charge: Parameters<typeof hold.settle>[0] = {
    key_id: fact(state, 'caller').key_id,
    model: fact(state, 'model').id,
    provider: answer.provider,
    cost_nano,
    estimated,
    usage: usageText(bill),
  };
  for (const name of TOKEN_CLASSES) {
    const tokens = usage[name];
    if (tokens !== undefined) charge[name] = tokens;
  }
  if (not_owed_nano !== undefined) charge.not_owed_nano = not_owed_nano;
  const record = recordWithCharge(state, bill);
  const settled = await hold.settle(charge, kept, record);
  if (settled && record) record.is_kept = true;
  const uncollected_nano = settled?.uncollected_nano ?? 0n;
  return uncollected_nano === 0n ? bill : partlyPaid(state, bill, uncollected_nano, services);
}

/** The counts of a bill as JSON. Most have tokens alone, and are written many times faster. */
function usageText({ usage, counts }: Bill): string {
  const { prompt_tokens, completion_tokens } = usage;
  if (counts) return JSON.stringify({ ...counts, prompt_tokens, completion_tokens });
  return `{"prompt_tokens":${prompt_tokens},"completion_tokens":${completion_tokens}}`;
}

/** Logs and returns the bill of an answer that the account could not pay in full. */
function partlyPaid(state: State, bill: Bill, uncollected_nano: bigint, { log }: Services): Bill {
  const { request_id } = state;
  const { id: model } = fact(state, 'model');
  const uncollected = formatDollars(uncollected_nano);
  log.warn({ request_id, model, uncollected }, 'an answer cost more than could be collected');
  const cost_nano = bill.cost_nano + (bill.not_owed_nano ?? 0n) - uncollected_nano;
  return { ...bill, cost_nano, uncollected_nano };
}
