import { imageBill } from '../billing/image.js';
import type { Bill, Terms } from '../billing/usage.js';
import { carryStream, chargeAnswer } from '../chat/charge.js';
import type { ImageAnswer } from '../image/operation.js';
import { fact, OptionError, workOf, type Context, type Services, type Stage } from '../pipeline.js';
import type { Upstream } from '../types.js';
import { settleTask } from '../video/result.js';

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

async function charge(ctx: Context, services: Services): Promise<Bill | undefined> {
  const reply = fact(ctx, 'reply');
  switch (reply.kind) {
    case 'chat':
      return chargeAnswer(reply, termsOf(ctx, reply.upstream), settling(ctx, reply.upstream));
    case 'chat-stream': {
      const terms = termsOf(ctx, reply.upstream);
      return carryStream(ctx, reply, terms, settling(ctx, reply.upstream), services);
    }
    case 'image':
      return chargeImages(ctx, reply);
    default:
      return undefined;
  }
}

async function chargeImages(ctx: Context, reply: ImageAnswer): Promise<Bill> {
  const { price } = reply.upstream;
  const { call } = workOf(ctx, 'image');
  const terms = {
    call,
    model: fact(ctx, 'model'),
    price,
    hold_nano: fact(ctx, 'hold').amount_nano,
  };
  const bill = await imageBill(reply.usages, reply.delivered, terms);
  await settling(ctx, reply.upstream, { images: reply.delivered })(bill);
  return bill;
}

function termsOf(ctx: Context, { price }: Upstream): Terms {
  const { amount_nano } = fact(ctx, 'hold');
  return { work: workOf(ctx, 'chat'), model: fact(ctx, 'model'), price, hold_nano: amount_nano };
}

/** The ledger holds the tokens, and what else there is to count. */
function settling(
  ctx: Context,
  { provider }: Upstream,
  others?: { images: number },
): (bill: Bill) => Promise<void> {
  return async ({ usage, cost_nano, estimated }) => {
    // Nothing was given, so nothing is charged: the hold is released on the way out.
    if (cost_nano === 0n && usage.completion_tokens === 0) return;
    await fact(ctx, 'hold').settle({
      key_id: fact(ctx, 'caller').key_id,
      model: fact(ctx, 'model').id,
      provider: provider.name,
      cost_nano,
      estimated,
      usage: JSON.stringify(others ? Object.assign(others, usage) : usage),
    });
  };
}
