import { expect } from 'chai';
import fc from 'fast-check';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, onEachStore, type Ground } from '../helpers/ground.js';

/** What the store must come to, in the simplest words. */
interface Model {
  balances: bigint[];
  holds: Map<string, { account: number; amount_nano: bigint; owner: 'steady' | 'shaky' | 'gone' }>;
  charges: Set<string>;
  credits: Map<string, bigint>;
  /** What the limited key of each account has spent, and whether it was revoked. */
  spent: bigint[];
  revoked: boolean[];
}

const LIMIT_NANO = 50n;

/** The store under test: one process that lives on, and one that is lost now and then. */
interface World {
  ids: string[];
  /** A key with a limit for each account; the requests from 3 on are made with it. */
  keys: string[];
  steady: Store;
  shaky: Store;
  ground: Ground;
}

type Step =
  | { act: 'credit'; account: number; amount: number; reference: number }
  | { act: 'hold'; account: number; amount: number; request: number; shaky: boolean }
  | { act: 'charge'; account: number; amount: number; request: number }
  | { act: 'release'; account: number; request: number }
  | { act: 'revoke'; account: number }
  | { act: 'lose' }
  | { act: 'recover' };

const account = fc.nat({ max: 1 });
const amount = fc.integer({ min: 0, max: 40 });
const request = fc.nat({ max: 5 });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    act: fc.constant('credit' as const),
    account,
    amount: fc.integer({ min: -40, max: 60 }),
    reference: fc.nat({ max: 3 }),
  }),
  fc.record({ act: fc.constant('hold' as const), account, amount, request, shaky: fc.boolean() }),
  fc.record({ act: fc.constant('hold' as const), account, amount, request, shaky: fc.boolean() }),
  fc.record({ act: fc.constant('charge' as const), account, amount, request }),
  fc.record({ act: fc.constant('release' as const), account, request }),
  fc.record({ act: fc.constant('revoke' as const), account }),
  fc.constant({ act: 'lose' as const }),
  fc.constant({ act: 'recover' as const }),
);

function usesKey(request: number): boolean {
  return request >= 3;
}

function held(model: Model, at: number, of: 'account' | 'key' = 'account'): bigint {
  return [...model.holds]
    .filter(([id]) => of === 'account' || usesKey(Number(id.slice(1))))
    .map(([, hold]) => hold)
    .filter((hold) => hold.account === at)
    .reduce((sum, { amount_nano }) => sum + amount_nano, 0n);
}

function balance(model: Model, at: number): bigint {
  return model.balances[at] ?? 0n;
}

/** Does the step to the model, and answers what the store must answer. */
function predict(model: Model, taken: Step): unknown {
  switch (taken.act) {
    case 'credit':
      return predictCredit(model, taken);
    case 'hold':
      return predictHold(model, taken);
    case 'charge':
      return predictCharge(model, taken);
    case 'release':
      endHold(model, taken);
      return undefined;
    case 'revoke': {
      const was = model.revoked[taken.account] ?? false;
      model.revoked[taken.account] = true;
      return !was;
    }
    case 'lose':
      for (const hold of model.holds.values()) if (hold.owner === 'shaky') hold.owner = 'gone';
      return undefined;
    case 'recover': {
      const gone = [...model.holds].filter(([, { owner }]) => owner === 'gone');
      for (const [id] of gone) model.holds.delete(id);
      return gone.length;
    }
  }
}

function endHold(model: Model, taken: { account: number; request: number }): void {
  const id = `r${taken.request}`;
  if (model.holds.get(id)?.account === taken.account) model.holds.delete(id);
}

function predictCredit(model: Model, taken: Step & { act: 'credit' }): unknown {
  const amount_nano = BigInt(taken.amount);
  const name = `${taken.account} c${taken.reference}`;
  const first = model.credits.get(name);
  if (amount_nano === 0n) return 'refused';
  if (first !== undefined) return first === amount_nano ? first : 'refused';
  const left = balance(model, taken.account) - held(model, taken.account) + amount_nano;
  if (amount_nano < 0n && left < 0n) return 'refused';
  model.credits.set(name, amount_nano);
  model.balances[taken.account] = balance(model, taken.account) + amount_nano;
  return amount_nano;
}

function predictHold(model: Model, taken: Step & { act: 'hold' }): unknown {
  const amount_nano = BigInt(taken.amount);
  const held_nano = held(model, taken.account);
  const balance_nano = balance(model, taken.account);
  const refusal = usesKey(taken.request) ? predictRefusal(model, taken.account, amount_nano) : null;
  if (refusal) return refusal;
  if (balance_nano - held_nano < amount_nano)
    return { admitted: false, because: 'balance', balance_nano, held_nano };
  if (model.holds.has(`r${taken.request}`)) return 'refused';
  const owner = taken.shaky ? 'shaky' : 'steady';
  model.holds.set(`r${taken.request}`, { account: taken.account, amount_nano, owner });
  return { admitted: true };
}

function predictRefusal(model: Model, at: number, amount_nano: bigint): unknown {
  if (model.revoked[at]) return { admitted: false, because: 'ended' };
  const spent_nano = model.spent[at] ?? 0n;
  const held_nano = held(model, at, 'key');
  if (LIMIT_NANO - spent_nano - held_nano >= amount_nano) return null;
  const figures = { limit_nano: LIMIT_NANO, spent_nano, held_nano };
  return { admitted: false, because: 'limit', ...figures };
}

function predictCharge(model: Model, taken: Step & { act: 'charge' }): unknown {
  const name = `${taken.account} r${taken.request}`;
  const cost_nano = BigInt(taken.amount);
  endHold(model, taken);
  if (model.charges.has(name)) return false;
  model.charges.add(name);
  const available_nano = balance(model, taken.account) - held(model, taken.account);
  const spent_nano = model.spent[taken.account] ?? 0n;
  const left_nano = LIMIT_NANO - spent_nano - held(model, taken.account, 'key');
  const bears = usesKey(taken.request) ? [available_nano, left_nano] : [available_nano];
  const collected_nano = [cost_nano, ...bears].reduce((least, one) => (one < least ? one : least));
  model.balances[taken.account] = balance(model, taken.account) - collected_nano;
  if (usesKey(taken.request)) model.spent[taken.account] = spent_nano + collected_nano;
  return { uncollected_nano: cost_nano - collected_nano };
}

async function perform(world: World, taken: Step): Promise<unknown> {
  const { steady, ids } = world;
  const id = 'account' in taken ? (ids[taken.account] ?? '') : '';
  const key_id = 'account' in taken ? (world.keys[taken.account] ?? '') : '';
  switch (taken.act) {
    case 'credit':
      return (await steady.credit(id, BigInt(taken.amount), `c${taken.reference}`)).amount_nano;
    case 'hold': {
      const store = taken.shaky ? world.shaky : steady;
      const key = usesKey(taken.request) ? key_id : undefined;
      return store.hold(`r${taken.request}`, id, BigInt(taken.amount), key);
    }
    case 'charge':
      return steady.charge(
        chargeOf(
          `r${taken.request}`,
          id,
          BigInt(taken.amount),
          usesKey(taken.request) ? { key_id } : {},
        ),
      );
    case 'release':
      return steady.release(`r${taken.request}`, id);
    case 'revoke':
      return steady.revokeKey(key_id, id);
    case 'lose':
      await world.ground.close(world.shaky);
      world.shaky = await world.ground.open();
      return undefined;
    case 'recover':
      return steady.recover();
  }
}

async function compare(world: World, model: Model): Promise<void> {
  for (const [at, id] of world.ids.entries()) {
    expect(await world.steady.account(id)).to.deep.include({
      balance_nano: balance(model, at),
      held_nano: held(model, at),
    });
    const [key] = await world.steady.keys(id);
    expect(key?.spent_nano).to.equal(model.spent[at] ?? 0n);
  }
  expect(await world.steady.verify()).to.deep.equal({
    accounts: 2,
    entries: model.credits.size + model.charges.size,
    open_holds: model.holds.size,
    faults: [],
  });
}

onEachStore('any sequence of store calls', (ground) => {
  it('has the same result as a simple model', async () => {
    const steady = await ground.open();
    let shaky = await ground.open();
    let run = 0;
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      await ground.place.sql(
        'delete from holds; delete from ledger; delete from keys; delete from accounts',
      );
      run++;
      const made = [
        await steady.createAccount(`a${run}`, 0n),
        await steady.createAccount(`b${run}`, 0n),
      ];
      const ids = made.map(({ id }) => id);
      const keys: string[] = [];
      for (const id of ids) {
        keys.push((await steady.createKey(id, 'pocket', { limit_nano: LIMIT_NANO })).key.id);
      }
      const world: World = { ids, keys, steady, shaky, ground };
      const model: Model = {
        balances: [0n, 0n],
        holds: new Map(),
        charges: new Set(),
        credits: new Map(),
        spent: [],
        revoked: [],
      };
      try {
        for (const taken of steps) {
          const answer = await perform(world, taken).catch(() => 'refused');
          expect(answer, JSON.stringify(taken)).to.deep.equal(predict(model, taken));
        }
        await compare(world, model);
      } finally {
        shaky = world.shaky;
      }
    });
    await fc.assert(property, { numRuns: steady.dialect === 'sqlite' ? 60 : 15 });
  });
});
