import { Hold } from '../billing/hold.js';
import { paymentRequired } from '../billing/payment-required.js';
import { fact, type Context, type Stage, type State } from '../pipeline/stage.js';
import type { Services } from '../pipeline/services.js';
import { refuseEmpty } from '../pipeline/admission.js';
import type { HoldRefusal } from '../store/store-types.js';
import type { StoredResponse } from '../store/idempotency/idempotency-types.js';
import { StoreUnreachable } from '../store/store-error.js';
import { minNano } from '../lib/money.js';
import { OptionError, GatewayError } from '../core/errors.js';
import { FLAGS } from '../core/request-record.js';
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { IdempotentRequest } from '../billing/idempotent-request.js';

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
      const { notes } = ctx.state;
      if (notes) notes.read_ms = notes.elapsed_ms;
      // `meter` settles the hold. A hold that is still open at the end is released here.
      services.settler.holds.add(hold);
      try {
        const kept = hold.idempotency && (await beginOrReplay(hold.idempotency));
        if (kept) {
          replay(ctx, kept);
          return;
        }
        await admit(hold, ctx, services);
        ctx.state.hold = hold;
        await next();
      } finally {
        if (hold.isOver) services.settler.holds.delete(hold);
        else await releaseHold(hold, services);
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

function holdFor(ctx: Context, services: Services): Hold {
  const { state } = ctx;
  const max_cost = fact(state, 'work').maxCost();
  const { account_id } = fact(state, 'caller');
  const amount = max_cost === 0n ? null : max_cost;
  const idempotent = idempotentRequestOf(ctx.req, state, services);
  return new Hold(services, state.request_id, account_id, amount, idempotent);
}

/** How often a smaller hold is tried, as other requests take and release holds meanwhile. */
const MAX_TRIES = 4;

/**
 * Takes the hold. If only the holds of requests in flight leave too little, it lowers the max cost
 * of the work, if the work can do so. Throws `GatewayError` (402) if the hold is refused.
 */
async function admit(hold: Hold, ctx: Context, { store }: Services): Promise<void> {
  const { state } = ctx;
  const { notes } = state;
  const { key_id, account_id } = fact(state, 'caller');
  const work = fact(state, 'work');
  for (let tries = 1; ; tries += 1) {
    const result = await hold.take(key_id);
    if (notes) notes.hold_ms = notes.elapsed_ms;
    if (result.admitted) return;
    const needed_nano = hold.amount_nano ?? 0n;
    if (isFinal(result)) throw paymentRequired(result, needed_nano);
    const { all_nano, free_nano } = await moneyFor(result, account_id, store);
    const fit = work.fitting?.(free_nano);
    const mayWait = all_nano >= needed_nano && tries < MAX_TRIES;
    if (!fit || !mayWait || !work.lowerTo?.(fit)) throw paymentRequired(result, needed_nano, fit);
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
 * The money of the account and its key for a request: `all_nano` in total, `free_nano` beside the
 * holds of requests in flight.
 */
async function moneyFor(
  refusal: Exclude<HoldRefusal, FinalRefusal>,
  account_id: string,
  store: Services['store'],
): Promise<{ all_nano: bigint; free_nano: bigint }> {
  const account = refusal.because === 'balance' ? refusal : await store.account(account_id);
  const { balance_nano, held_nano } = account ?? { balance_nano: 0n, held_nano: 0n };
  const free_nano = balance_nano - held_nano;
  // The limit of the key allows the whole hold, and so a smaller one too.
  if (refusal.because === 'balance') return { all_nano: balance_nano, free_nano };
  const all_nano = refusal.limit_nano - refusal.spent_nano;
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
 * Releases a hold. The answer is ready and must not fail with the store, and the money must not
 * stay locked until a restart. So a failed release is repeated until the store is back.
 */
async function releaseHold(hold: Hold, services: Services): Promise<void> {
  const { request_id } = hold;
  const released = hold.release().catch((err: unknown) => {
    // An outage of the store has a line of its own.
    if (!(err instanceof StoreUnreachable)) {
      services.log.error({ request_id, err }, 'a hold could not be released: it is tried again');
    }
    services.settler.retryRelease(request_id, () => hold.release());
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, RELEASE_WAIT_MS);
  });
  await Promise.race([released, late]);
  clearTimeout(timer);
}

/** Printable characters of ASCII. */
const KEY = /^[\x20-\x7E]{1,255}$/u;
const WAIT_S = '1';

/**
 * The request under its `Idempotency-Key`; undefined without one, and for work whose answer cannot
 * be kept, such as a stream. Throws `GatewayError` (400) for a key that is none.
 */
export function idempotentRequestOf(
  req: IncomingMessage,
  state: State,
  { store, configuration, now }: Services,
): IdempotentRequest | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined || state.work?.repeatable === false) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'The Idempotency-Key must be 1 to 255 printable ASCII characters.';
    throw new GatewayError('invalid_request', message);
  }
  return new IdempotentRequest(store, {
    account_id: fact(state, 'caller').account_id,
    request_id: state.request_id,
    key_sha256: hash('sha256', key),
    request_sha256: hash('sha256', fingerprint(req, state)),
    due_ms: now() + configuration.limits.idempotency_ms,
  });
}

function fingerprint({ method, url = '' }: IncomingMessage, state: State): string {
  const path = url.split('?', 1)[0] ?? '';
  try {
    return `${method} ${path}\n${JSON.stringify(state.request?.body)}`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = 'The body is nested too deep to be repeated under an Idempotency-Key.';
    throw new GatewayError('invalid_request', message, { cause: error });
  }
}

/**
 * Claims the key for this request. Resolves with undefined if the request is to run, or with the
 * stored response if it is a repetition. Throws `GatewayError` if another request has the key.
 */
export async function beginOrReplay(
  idempotent: IdempotentRequest,
): Promise<StoredResponse | undefined> {
  const begun = await idempotent.begin();
  switch (begun.is) {
    case 'new':
      return undefined;
    case 'other':
      throw new GatewayError(
        'idempotency_key_reused',
        'The Idempotency-Key was sent before with another request: use a new one for each.',
      );
    case 'running':
      throw new GatewayError(
        'idempotency_key_running',
        'A request with this Idempotency-Key is still running: repeat it in a moment.',
        { headers: { 'retry-after': WAIT_S } },
      );
    case 'answered': {
      if (begun.answer === null) throw notKept();
      return begun.answer;
    }
  }
}

/** The header stops client libraries that would retry in vain. */
function notKept(): GatewayError {
  return new GatewayError(
    'idempotency_answer_gone',
    'The request with this Idempotency-Key was answered, but its answer was not kept, as happens ' +
      'to very large and to older ones. It is not made again, nor charged again.',
    { headers: { 'x-should-retry': 'false' } },
  );
}
