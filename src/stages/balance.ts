import { Hold } from '../billing/hold.js';
import { paymentRequired } from '../billing/payment-required.js';
import { fact, type Context, type Stage } from '../pipeline/stage.js';
import type { Services } from '../pipeline/services.js';
import { refuseEmpty } from '../pipeline/admission.js';
import { keptResponse, repeatableOf } from '../pipeline/idempotency-key.js';
import type { StoredResponse } from '../store/idempotency/idempotency-types.js';
import { OptionError } from '../core/errors.js';

/**
 * Holds the max cost of a request before it is sent, and ends that hold on every exit. A request
 * that repeats an `Idempotency-Key` gets the stored response. `balance: gate` holds nothing: it
 * only refuses an account that has nothing available.
 */
export const balance: Stage = {
  name: 'balance',
  shape: (option) => {
    if (isGate(option)) return { needs: ['caller'], gives: [] };
    return { needs: ['caller', 'work'], gives: ['hold'], money: 'holds' };
  },
  create: (option, services) => {
    if (isGate(option)) {
      return async (ctx, next) => {
        await refuseEmpty(ctx.state, services);
        await next();
      };
    }
    return async (ctx, next) => {
      const hold = holdFor(ctx, services);
      // `meter` settles the hold. A hold that is still open at the end is released here.
      try {
        const kept = hold.repeatable && (await keptResponse(hold.repeatable));
        if (kept) {
          replay(ctx, kept);
          return;
        }
        const result = await hold.take(fact(ctx.state, 'caller').key_id);
        if (!result.admitted) throw paymentRequired(result, hold.amount_nano ?? 0n);
        ctx.state.hold = hold;
        await next();
      } finally {
        if (!hold.isOver) await giveBack(hold, services);
      }
    };
  },
};

function isGate(option: unknown): boolean {
  if (option === undefined) return false;
  if (option === 'gate') return true;
  throw new OptionError('the only option of balance is "gate"', ['gate']);
}

function holdFor(ctx: Context, services: Services): Hold {
  const { state } = ctx;
  const max_cost = fact(state, 'work').maxCost();
  const { account_id } = fact(state, 'caller');
  const amount = max_cost === 0n ? null : max_cost;
  const repeatable = repeatableOf(ctx.req, state, services);
  return new Hold(services, state.request_id, account_id, amount, repeatable);
}

/** Sends the stored response of the request that had the same `Idempotency-Key`. */
function replay(ctx: Context, { status, text }: StoredResponse): void {
  ctx.set('idempotent-replayed', 'true');
  ctx.state.answer = { status, body: () => text };
}

/** How long the answer waits for the release of its hold. */
const RELEASE_WAIT_MS = 1_000;

/**
 * Releases a hold. The answer is ready and must not fail with the store, and the money must not
 * stay locked until a restart. So a failed release is repeated until the store is back.
 */
async function giveBack(hold: Hold, services: Services): Promise<void> {
  const { request_id } = hold;
  const released = hold.release().catch((err: unknown) => {
    services.log.error({ request_id, err }, 'a hold could not be released: it is tried again');
    services.settler.insist(request_id, () => hold.release());
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, RELEASE_WAIT_MS);
  });
  await Promise.race([released, late]);
  clearTimeout(timer);
}
