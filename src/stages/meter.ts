import { imageBill } from '../modalities/image/price.js';
import { formatDollars } from '../lib/money.js';
import type { Terms } from '../modalities/chat/bill.js';
import { carryStream, chargeAnswer, type Settle } from '../modalities/chat/deliver.js';
import type { ImageAnswer } from '../modalities/image/send.js';
import {
  fact,
  workOf,
  type Context,
  type Reply,
  type Services,
  type Stage,
} from '../pipeline/stage.js';
import { bodyOf } from '../gateway/response-body.js';
import type { Answer } from '../store/idempotency/idempotency-types.js';
import { settleTask } from '../modalities/video/result.js';
import type { Upstream } from '../core/model.js';
import { OptionError } from '../core/option-error.js';
import type { Bill } from '../billing/bill.js';

/**
 * Charges an answer: the upstream's own usage at the model's price, or an estimate where there is
 * none to believe. The last byte of an answer goes out only after its charge is committed.
 * `meter: once` charges a video task, at the first time that its result is fetched.
 */
export const meter: Stage = {
  name: 'meter',
  shape: (option) => {
    if (isOnce(option)) {
      return {
        needs: ['caller', 'task', 'reply:task'],
        gives: ['receipt'],
        money: 'settles-task',
      };
    }
    return {
      needs: ['caller', 'model', 'work', 'hold', 'reply'],
      gives: ['receipt'],
      money: 'settles',
    };
  },
  create: (option, services) => {
    if (isOnce(option)) {
      return async (ctx, next) => {
        const reply = fact(ctx, 'reply');
        const bill = reply.kind === 'task' ? await settleTask(reply, services) : undefined;
        if (bill) ctx.state.receipt = bill;
        await next();
      };
    }
    return async (ctx, next) => {
      const bill = await charge(ctx, services);
      if (bill) ctx.state.receipt = bill;
      await next();
    };
  },
};

function isOnce(option: unknown): boolean {
  if (option === undefined) return false;
  if (option === 'once') return true;
  throw new OptionError('the only option of meter is "once"', ['once']);
}

function charge(ctx: Context, services: Services): Promise<Bill | undefined> {
  const reply = fact(ctx, 'reply');
  switch (reply.kind) {
    case 'chat':
      return chargeAnswer(reply, termsOf(ctx, reply.upstream), settling(ctx, reply, services));
    case 'chat-stream': {
      const terms = termsOf(ctx, reply.upstream);
      return carryStream(ctx, reply, terms, settling(ctx, reply, services), services);
    }
    case 'image':
      return chargeImages(ctx, reply, services);
    default:
      return Promise.resolve(undefined);
  }
}

async function chargeImages(ctx: Context, reply: ImageAnswer, services: Services): Promise<Bill> {
  const { price } = reply.upstream;
  const { call } = workOf(ctx, 'image');
  const terms = {
    call,
    model: fact(ctx, 'model'),
    price,
    hold_nano: fact(ctx, 'hold').amount_nano,
  };
  const bill = await imageBill(reply.usages, reply.delivered, terms);
  return settling(ctx, reply, services)(bill);
}

function termsOf(ctx: Context, upstream: Upstream): Terms {
  const { amount_nano } = fact(ctx, 'hold');
  return { work: workOf(ctx, 'chat'), model: fact(ctx, 'model'), upstream, hold_nano: amount_nano };
}

type Paid = Extract<Reply, { upstream: Upstream }>;

function settling(ctx: Context, reply: Paid, services: Services): Settle {
  return async (bill) => {
    const { usage, cost_nano, not_owed_nano, estimated } = bill;
    const hold = fact(ctx, 'hold');
    const answer = hold.repeatable && answerOf(reply, bill);
    // Nothing was given, so nothing is charged: the hold is released on the way out.
    if (cost_nano === 0n && usage.completion_tokens === 0) {
      await hold.answer(answer);
      return bill;
    }
    const charge: Parameters<typeof hold.settle>[0] = {
      key_id: fact(ctx, 'caller').key_id,
      model: fact(ctx, 'model').id,
      provider: reply.upstream.provider.name,
      cost_nano,
      estimated,
      usage: countsOf(reply, bill),
    };
    if (not_owed_nano !== undefined) charge.not_owed_nano = not_owed_nano;
    const settled = await hold.settle(charge, answer);
    const uncollected_nano = settled?.uncollected_nano ?? 0n;
    return uncollected_nano === 0n ? bill : partlyPaid(ctx, bill, uncollected_nano, services);
  };
}

/** A bill of which a part could not be collected, told to operators. */
function partlyPaid(ctx: Context, bill: Bill, uncollected_nano: bigint, { log }: Services): Bill {
  const { request_id } = ctx.state;
  const { id: model } = fact(ctx, 'model');
  const uncollected = formatDollars(uncollected_nano);
  log.warn({ request_id, model, uncollected }, 'an answer cost more than could be collected');
  const cost_nano = bill.cost_nano + (bill.not_owed_nano ?? 0n) - uncollected_nano;
  return { ...bill, cost_nano, uncollected_nano };
}

/** What the ledger says of an answer: its tokens, and what else there is to count. */
function countsOf(reply: Paid, { usage }: Bill): string {
  if (reply.kind !== 'image') return JSON.stringify(usage);
  return JSON.stringify(Object.assign({ images: reply.delivered }, usage));
}

/** What the client is answered, as it is kept for its being asked again. */
function answerOf(reply: Paid, bill: Bill): Answer {
  return { status: 200, text: JSON.stringify(bodyOf(reply, bill)) };
}
