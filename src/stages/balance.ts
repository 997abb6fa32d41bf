import { boundOf } from '../billing/bound.js';
import { Hold } from '../billing/hold.js';
import { refusal } from '../billing/refusal.js';
import { GatewayError } from '../errors.js';
import { fact, OptionError, type Context, type Services, type Stage } from '../pipeline.js';

/**
 * Sets aside the most that the request can cost, before it leaves, and closes that hold on every
 * way out. `balance: gate` only refuses an account with nothing available, and holds nothing.
 */
export const balance: Stage = {
  name: 'balance',
  shape: (option) => {
    if (isGate(option)) return { needs: ['caller'], gives: [] };
    return { needs: ['caller', 'work', 'upstreams'], gives: ['hold'], money: 'holds' };
  },
  create: (option, services) => {
    if (isGate(option)) {
      return async (ctx, next) => {
        await refuseEmpty(ctx, services);
        await next();
      };
    }
    return async (ctx, next) => {
      const hold = await takeHold(ctx, services);
      ctx.state.hold = hold;
      // A stage after this one settles the hold; whatever happens to it, it ends here.
      try {
        await next();
      } finally {
        await giveBack(hold, services);
      }
    };
  },
};

function isGate(option: unknown): boolean {
  if (option === undefined) return false;
  if (option === 'gate') return true;
  throw new OptionError('the only option of balance is "gate"', ['gate']);
}

async function takeHold(ctx: Context, services: Services): Promise<Hold> {
  const { store } = services;
  const { account_id, key_id } = fact(ctx, 'caller');
  const bound = boundOf(fact(ctx, 'work'), fact(ctx, 'model'), fact(ctx, 'upstreams'));
  const { request_id } = ctx.state;
  if (bound === 0n) {
    if (await store.hasEnded(key_id)) throw refusal({ because: 'ended' }, bound);
    return new Hold(store, request_id, account_id, null);
  }
  const hold = new Hold(store, request_id, account_id, bound);
  try {
    const result = await store.hold(request_id, account_id, bound, key_id);
    if (result.admitted) return hold;
    throw refusal(result, bound);
  } catch (error) {
    // A store that failed may have taken the hold all the same.
    if (!(error instanceof GatewayError)) await giveBack(hold, services);
    throw error;
  }
}

const LONGEST_WAIT_MS = 30_000;
const ATTEMPTS = 20;

/**
 * Ends a hold. The answer is known by now and must not suffer from a store that fails, nor may the
 * money stay locked until a restart: so the store is asked again, later and later.
 */
async function giveBack(hold: Hold, services: Services, attempt = 1): Promise<void> {
  try {
    await hold.release();
  } catch (error) {
    const { request_id } = hold;
    services.log.error({ request_id, attempt, err: error }, 'a hold could not be released');
    if (attempt === ATTEMPTS) return;
    const wait_ms = Math.min(50 * 2 ** attempt, LONGEST_WAIT_MS);
    setTimeout(() => void giveBack(hold, services, attempt + 1), wait_ms).unref();
  }
}

async function refuseEmpty(ctx: Context, { store }: Services): Promise<void> {
  const account = await store.account(fact(ctx, 'caller').account_id);
  const { balance_nano, held_nano } = account ?? { balance_nano: 0n, held_nano: 0n };
  if (balance_nano - held_nano > 0n) return;
  throw refusal({ because: 'balance', balance_nano, held_nano }, 1n);
}
