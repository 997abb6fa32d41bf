import { expect } from 'chai';
import fc from 'fast-check';
import type { EndedCall, KeyState } from '../../../src/store/idempotency/idempotency-types.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, type Ground } from '../helpers/ground.js';

const DAY_MS = 86_400_000;

/** A key as it must be, in the simplest words. */
interface Row {
  request_id: string;
  request_sha256: string;
  due_ms: number;
  state: 'steady' | 'shaky' | 'answered';
}

interface Model {
  rows: Map<string, Row>;
  charged: Set<string>;
}

/** The store under test: one process that lives on, and one that is lost now and then. */
interface World {
  account_id: string;
  steady: Store;
  shaky: Store;
  ground: Ground;
  /** All calls that were ever begun, or tried to be. */
  calls: EndedCall[];
}

type Step =
  | { act: 'begin'; key: number; asked: number; shaky: boolean }
  | { act: 'charge' | 'answer' | 'forget'; call: number }
  | { act: 'lose' | 'sweep' }
  | { act: 'wait'; hours: number };

const call = fc.nat({ max: 3 });
const begin = fc.record({
  act: fc.constant('begin' as const),
  key: fc.nat({ max: 1 }),
  asked: fc.constantFrom(0, 0, 0, 1),
  shaky: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  begin,
  begin,
  fc.record({ act: fc.constantFrom('charge' as const, 'answer' as const), call }),
  fc.record({ act: fc.constant('forget' as const), call }),
  fc.record({ act: fc.constantFrom('lose' as const, 'sweep' as const) }),
  fc.record({ act: fc.constant('wait' as const), hours: fc.nat({ max: 25 }) }),
);

/** The call that a step is about: the newest of all is 0. */
function callOf(world: World, at: number): EndedCall | undefined {
  return world.calls.at(-1 - at);
}

function predictBegin({ rows }: Model, one: EndedCall, shaky: boolean, now_ms: number): KeyState {
  const row = rows.get(one.key_sha256);
  if (!row || (row.state === 'answered' && row.due_ms <= now_ms)) {
    const { request_id, request_sha256, due_ms } = one;
    rows.set(one.key_sha256, {
      request_id,
      request_sha256,
      due_ms,
      state: shaky ? 'shaky' : 'steady',
    });
    return { is: 'new' };
  }
  if (row.request_sha256 !== one.request_sha256) return { is: 'other' };
  if (row.state !== 'answered') return { is: 'running' };
  return { is: 'answered', answer: answerOf(row.request_id) };
}

/** Whether the answer is kept: unless the key is another call's by now. */
function predictKept({ rows }: Model, one: EndedCall): boolean {
  const { key_sha256, request_id, request_sha256, due_ms } = one;
  const row = rows.get(key_sha256) ?? { request_id, request_sha256, due_ms };
  if (row.request_id !== request_id) return false;
  rows.set(key_sha256, { ...row, state: 'answered' });
  return true;
}

function answerOf(request_id: string): { status: number; text: string } {
  return { status: 200, text: `"${request_id}"` };
}

async function begins(world: World, model: Model, taken: Step & { act: 'begin' }): Promise<void> {
  const { ground, account_id, calls } = world;
  const request_id = `r${calls.length}`;
  const one: EndedCall = {
    account_id,
    request_id,
    key_sha256: `k${taken.key}`,
    request_sha256: `a${taken.asked}`,
    due_ms: ground.now_ms + DAY_MS,
    answer: answerOf(request_id),
  };
  const store = taken.shaky ? world.shaky : world.steady;
  const { answer: _later, ...begun } = one;
  expect(await store.idempotency.begin(begun)).to.deep.equal(
    predictBegin(model, one, taken.shaky, ground.now_ms),
  );
  calls.push(one);
}

async function ends(world: World, model: Model, one: EndedCall, act: string): Promise<void> {
  const { steady, account_id } = world;
  const { request_id } = one;
  if (act === 'forget') {
    await steady.idempotency.forget(one);
    const row = model.rows.get(one.key_sha256);
    const isOurs = row?.request_id === request_id && row.state !== 'answered';
    if (isOurs) model.rows.delete(one.key_sha256);
    return;
  }
  const kept = predictKept(model, one);
  const first = !model.charged.has(request_id);
  const done =
    act === 'charge'
      ? steady.charge(chargeOf(request_id, account_id, 1n), one).then(Boolean)
      : steady.idempotency.answer(one).then(() => 'answered');
  const outcome = await done.catch(() => 'refused');
  if (!kept) expect(outcome).to.equal('refused');
  else expect(outcome).to.equal(act === 'charge' ? first : 'answered');
  if (kept && act === 'charge') model.charged.add(request_id);
}

async function perform(world: World, model: Model, taken: Step): Promise<void> {
  const { ground, steady } = world;
  switch (taken.act) {
    case 'begin':
      return begins(world, model, taken);
    case 'wait':
      ground.now_ms += (taken.hours * DAY_MS) / 24;
      return;
    case 'lose':
      await ground.close(world.shaky);
      world.shaky = await ground.open();
      for (const [key, { state }] of model.rows) if (state === 'shaky') model.rows.delete(key);
      return;
    case 'sweep': {
      const due = [...model.rows].filter(
        ([, { state, due_ms }]) => state === 'answered' && due_ms <= ground.now_ms,
      );
      expect(await steady.idempotency.sweep(1_000_000)).to.equal(due.length);
      for (const [key] of due) model.rows.delete(key);
      return;
    }
    default: {
      const one = callOf(world, taken.call);
      if (one) await ends(world, model, one, taken.act);
    }
  }
}

onEachStore('any sequence of idempotent requests', (ground) => {
  it('gives the answers and the charges of a plain model', async () => {
    const steady = await ground.open();
    let shaky = await ground.open();
    let run = 0;
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      await ground.place.sql('delete from idempotency_keys');
      const { id: account_id } = await steady.createAccount(`a${run++}`, dollars(1));
      const world: World = { account_id, steady, shaky, ground, calls: [] };
      const model: Model = { rows: new Map(), charged: new Set() };
      try {
        for (const taken of steps) await perform(world, model, taken);
        const rows = await steady.ledger(account_id, { limit: 100 });
        const charges = rows.filter(({ kind }) => kind === 'charge');
        expect(charges.map(({ reference }) => reference)).to.have.members([...model.charged]);
        expect((await steady.verify()).faults).to.deep.equal([]);
      } finally {
        shaky = world.shaky;
      }
    });
    await fc.assert(property, { numRuns: steady.dialect === 'sqlite' ? 100 : 25 });
  });
});
