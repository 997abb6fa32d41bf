import { Hold } from '../billing/hold.js';
import type { IdempotencyClaim } from '../billing/idempotency-claim.js';
import { paymentRequired } from '../billing/payment-required.js';
import { fact, goOnInTurn, type Context, type Stage, type State } from '../pipeline/stage.js';
import type { Services } from '../pipeline/services.js';
import { refuseEmpty } from '../pipeline/admission.js';
import type { HoldRefusal } from '../store/store-types.js';
import type { StoredResponse } from '../store/idempotency/idempotency-types.js';
import { StoreUnreachable } from '../store/store-error.js';
import { minNano } from '../lib/money.js';
import { OptionError } from '../core/errors.js';
import { FLAGS } from '../core/request-record.js';
import { claimOf, takeOrReplay } from './idempotency-key.js';

/**
 * Holds the max cost of a request before it is sent, and ends that hold on every exit. A request
 * that repeats an `Idempotency-Key` gets the stored response. `balance: gate` holds nothing: it
 * only refuses an account that has nothing available.
 */
export const balance: Stage = {
  name: 'balance',
  shape: (option) => {
    if (isGate(option)) return { needs: ['caller'], gives: [], money: 'gates' };
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
      const { state } = ctx;
      const claim = claimOf(ctx.req, state, services);
      const hold = holdFor(state, claim, services);
      const { requests } = services.charge_writer;
      if (state.notes) state.notes.read_ms = state.notes.elapsed_ms;
      // `meter` charges the hold. A hold that is still open at the end is released here.
      requests.add(hold);
      const release = async (): Promise<void> => {
        await hold.release();
        await claim?.drop();
        requests.delete(hold);
      };
      try {
        const kept = claim && (await takeOrReplay(claim));
        if (kept) {
          replay(ctx, kept);
          return;
        }
        state.claim = claim;
        await admit(hold, ctx, services);
        const turn = goOnInTurn(state, services);
        if (turn) await turn;
        state.hold = hold;
        await next();
      } finally {
        if (hold.is_open || claim) await releaseSoon(state.request_id, release, services);
        else requests.delete(hold);
      }
    };
  },
};

function isGate(option: unknown): boolean {
  if (option === undefined) return false;
  if (option === 'gate') return true;
  if (typeof option === 'string') {
    throw new OptionError('the only option of balance is "gate"', ['gate']);
  }
  throw new OptionError('its only option is "gate": write - balance, without an option');
}

function holdFor(state: State, claim: IdempotencyClaim | undefined, services: Services): Hold {
  const max_cost = fact(state, 'work').maxCost();
  const { account_id } = fact(state, 'caller');
  const amount = max_cost === 0n ? null : max_cost;
  return new Hold(services, state.request_id, account_id, amount, claim);
}

/** How often a smaller hold is tried, as other requests take and release holds meanwhile. */
const MAX_TRIES = 4;

/**
 * Takes the hold. If only the holds of requests in flight leave too little, it lowers the max cost
 * of the work, if the work can do so. Throws `GatewayError` (402) if the hold is refused.
 */
async function admit(hold: Hold, ctx: Context, { store, now }: Services): Promise<void> {
  const { state } = ctx;
  const { notes } = state;
  const { key_id, account_id } = fact(state, 'caller');
  const work = fact(state, 'work');
  for (let tries = 1; ; tries += 1) {
    const result = await hold.take(key_id);
    if (notes) notes.hold_ms = notes.elapsed_ms;
    if (result.admitted) return;
    const needed_nano = hold.amount_nano ?? 0n;
    const refused = { needed_nano, now_ms: now() };
    if (isFinal(result)) throw paymentRequired(result, refused);
    const { all_nano, free_nano } = await moneyFor(result, account_id, store);
    const fit = work.fitting?.(free_nano);
    const mayWait = all_nano >= needed_nano && tries < MAX_TRIES;
    if (!fit || !mayWait || !work.lowerTo?.(fit)) {
      throw paymentRequired(result, { ...refused, fit });
    }
    hold.reduceTo(work.maxCost());
    ctx.set('tollgate-adjusted', work.adjusted?.join(', ') ?? fit.field);
  }
}

/** The refusals that no smaller hold avoids. */
type FinalRefusal = Extract<HoldRefusal, { because: 'ended' | 'suspended' }>;

function isFinal(refusal: HoldRefusal): refusal is FinalRefusal {
  return refusal.because === 'ended' || refusal.because === 'suspended';
}

/**
 * The money of the account, its key and a full window for a request: `all_nano` in total,
 * `free_nano` beside the holds of requests in flight.
 */
async function moneyFor(
  refusal: Exclude<HoldRefusal, FinalRefusal>,
  account_id: string,
  store: Services['store'],
): Promise<{ all_nano: bigint; free_nano: bigint }> {
  const account = refusal.because === 'balance' ? refusal : await store.account(account_id);
  const { balance_nano, held_nano } = account ?? { balance_nano: 0n, held_nano: 0n };
  const free_nano = balance_nano - held_nano;
  // The key and the windows allow the whole hold, and so a smaller one too.
  if (refusal.because === 'balance') return { all_nano: balance_nano, free_nano };
  const total_nano = refusal.because === 'limit' ? refusal.limit_nano : refusal.amount_nano;
  const all_nano = total_nano - refusal.spent_nano;
  return {
    all_nano: minNano(balance_nano, all_nano),
    free_nano: minNano(free_nano, all_nano - refusal.held_nano),
  };
}

/** Sends the stored response of the request that had the same `Idempotency-Key`. */
function replay(ctx: Context, { status, text }: StoredResponse): void {
  ctx.set('idempotent-replayed', 'true');
  if (ctx.state.notes) ctx.state.notes.flags |= FLAGS.replayed;
  ctx.state.answer = { status, body: () => text };
}

/** How long the answer waits for the release of its hold. */
const RELEASE_WAIT_MS = 1_000;

/**
 * Releases what a request holds. The answer is ready and must not fail with the store, and the
 * money must not stay locked until a restart. So a failed release is repeated until the store is
 * back.
 */
async function releaseSoon(
  request_id: string,
  release: () => Promise<void>,
  services: Services,
): Promise<void> {
  const released = release().catch((err: unknown) => {
    // An outage of the store has a line of its own.
    if (!(err instanceof StoreUnreachable)) {
      services.log.error({ request_id, err }, 'a hold could not be released: it is tried again');
    }
    services.charge_writer.retryRelease(request_id, release);
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, RELEASE_WAIT_MS);
  });
  await Promise.race([released, late]);
  clearTimeout(timer);
}
