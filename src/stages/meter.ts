import { receiptOf, upstreamCost, type Bill, type Receipt } from '../billing/bill.js';
import type { Hold } from '../billing/hold.js';
import { OptionError } from '../core/errors.js';
import { NO_TOKENS, TOKEN_CLASSES } from '../core/usage.js';
import { formatDollars } from '../lib/money.js';
import type { Services } from '../pipeline/services.js';
import { fact, goOnInTurn, type Stage, type State } from '../pipeline/stage.js';
import { cacheDollars, recordWithCharge } from '../pipeline/request-record.js';
import type { PaidAnswer } from '../pipeline/work.js';

/**
 * Finishes an answer, charges it, and closes it: its last byte is sent after the charge is
 * committed. `meter: once` charges a task when its result is fetched for the first time.
 */
export const meter: Stage = {
  name: 'meter',
  shape: (option) => {
    if (isOnce(option)) {
      return {
        needs: ['caller', 'task', 'answer:task'],
        gives: ['receipt'],
        money: 'charges-task',
        records: true,
      };
    }
    return {
      needs: ['caller', 'model', 'work', 'hold', 'answer'],
      gives: ['receipt'],
      money: 'charges',
      records: true,
    };
  },
  create: (option, services) => {
    const charge = isOnce(option) ? chargeTask : chargeHold;
    return async ({ state }, next) => {
      const answer = fact(state, 'answer');
      if ('finish' in answer) {
        const bill = await answer.finish();
        const ended = state.rate?.end(bill.usage);
        tellUnpriced(bill, answer, state, services);
        const receipt = await charge(bill, answer, state, services);
        state.receipt = receipt;
        const turn = goOnInTurn(state, services);
        if (turn) await turn;
        // Before the last byte: the client may send its next request at once.
        await ended;
        await answer.close(receipt);
      }
      await next();
    };
  },
};

const NOTHING_CHARGED = receiptOf({ usage: NO_TOKENS, cost_nano: 0n, estimated: false });

function isOnce(option: unknown): boolean {
  if (option === undefined) return false;
  if (option === 'once') return true;
  throw new OptionError('the only option of meter is "once"', ['once']);
}

/** Charges a task, unless another request has charged it. */
async function chargeTask(
  bill: Bill,
  _answer: PaidAnswer,
  state: State,
  { store }: Services,
): Promise<Receipt> {
  if (!bill.task) return receiptOf(bill);
  const { content_id, usage } = bill.task;
  const { cost_nano } = bill;
  const upstream_cost_nano = upstreamCost(bill);
  const { id } = fact(state, 'task').task;
  const agent = state.notes?.agent ?? null;
  const charge = { content_id, usage, cost_nano, upstream_cost_nano, agent };
  const task = await store.tasks.charge(id, charge);
  const isFirst = task?.content_id === content_id;
  return isFirst ? { ...receiptOf(bill), task } : { ...NOTHING_CHARGED, task };
}

/**
 * Charges the hold of a request, and stores its answer under its `Idempotency-Key`, in one
 * transaction.
 */
async function chargeHold(
  bill: Bill,
  answer: PaidAnswer,
  state: State,
  services: Services,
): Promise<Receipt> {
  const hold = fact(state, 'hold');
  const { claim } = state;
  const kept = claim && { status: 200, text: JSON.stringify(answer.body()) };
  const isNothing = bill.cost_nano === 0n && bill.usage.completion_tokens === 0;
  const record = isNothing ? undefined : recordWithCharge(state, bill);
  // Without output there is no charge: `balance` releases the hold. A free call has no hold.
  if (isNothing || !hold.is_open) {
    await claim?.keep(kept);
    return receiptOf(bill);
  }
  const collected = await hold.charge(chargeOf(bill, answer, state), kept, record);
  const uncollected_nano = collected?.uncollected_nano ?? 0n;
  if (uncollected_nano > 0n) logUncollected(state, uncollected_nano, services);
  return receiptOf(bill, uncollected_nano);
}

function chargeOf(
  bill: Bill,
  { provider }: PaidAnswer,
  state: State,
): Parameters<Hold['charge']>[0] {
  const { usage, cost_nano, not_owed_nano, estimated } = bill;
  const charge: ReturnType<typeof chargeOf> = {
    key_id: fact(state, 'caller').key_id,
    model: fact(state, 'model').id,
    provider,
    cost_nano,
    upstream_cost_nano: upstreamCost(bill),
    estimated,
    usage: usageText(bill),
  };
  for (const name of TOKEN_CLASSES) {
    const tokens = usage[name];
    if (tokens !== undefined) charge[name] = tokens;
  }
  if (not_owed_nano !== undefined) charge.not_owed_nano = not_owed_nano;
  const { notes } = state;
  if (!notes) return charge;
  const upstream_model = notes.attempts.at(-1)?.model;
  if (upstream_model !== undefined) charge.upstream_model = upstream_model;
  if (notes.agent !== null) charge.agent = notes.agent;
  const { saved_nano, lost_nano } = cacheDollars(notes, bill);
  if (saved_nano !== 0n) charge.saved_nano = saved_nano;
  if (lost_nano !== 0n) charge.lost_nano = lost_nano;
  return charge;
}

/** The counts of a bill as JSON. Most have tokens alone, which takes no serializer. */
function usageText({ usage, counts }: Bill): string {
  const { prompt_tokens, completion_tokens, tier: service_tier, tool_calls } = usage;
  if (counts ?? service_tier ?? tool_calls) {
    const tokens = { prompt_tokens, completion_tokens };
    return JSON.stringify({ ...counts, ...tokens, service_tier, tool_calls });
  }
  return `{"prompt_tokens":${prompt_tokens},"completion_tokens":${completion_tokens}}`;
}

/** Tells once of each upstream model what it reports that no price covers. */
function tellUnpriced(
  { unpriced }: Bill,
  { provider }: PaidAnswer,
  { notes }: State,
  { health, log }: Services,
): void {
  if (!unpriced) return;
  const model = notes?.attempts.at(-1)?.model ?? '';
  const units = unpriced.filter((unit) => health.unpriced(provider, { model, unit }));
  if (units.length === 0) return;
  log.warn({ provider, model, units }, 'an upstream reports what no price covers');
}

function logUncollected(state: State, uncollected_nano: bigint, { log }: Services): void {
  const { request_id } = state;
  const { id: model } = fact(state, 'model');
  const uncollected = formatDollars(uncollected_nano);
  log.warn({ request_id, model, uncollected }, 'an answer cost more than could be collected');
}
