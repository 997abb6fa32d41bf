import { expect } from 'chai';
import fc from 'fast-check';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore } from '../helpers/ground.js';
import type { Charge } from '../../../src/store/ledger/ledger-columns.js';

/** More than one statement takes, and no round number of them. */
const MANY = 41;
const HOLD_NANO = 10n;

const requests = (count: number, letter = 'r') =>
  Array.from({ length: count }, (_, at) => `${letter}${at}`);

async function figures(store: Store, id: string): Promise<(bigint | undefined)[]> {
  const account = await store.account(id);
  return [account?.balance_nano, account?.held_nano];
}

/** A charge of one who knows what its hold has set aside, as the gateway does. */
const known = (request_id: string, account_id: string, terms: Partial<Charge> = {}): Charge =>
  chargeOf(request_id, account_id, 3n, { hold_nano: HOLD_NANO, ...terms });

const holdAll = (store: Store, ids: readonly string[], account_id: string, key_id?: string) =>
  Promise.all(ids.map((one) => store.hold(one, account_id, HOLD_NANO, key_id)));

onEachStore('concurrent holds and charges', (ground) => {
  for (const count of [1, 2, 3, 15, 16, 17, 31, MANY]) {
    it(`are all made, ${count} of two accounts`, async () => {
      const store = await ground.open();
      const [ann, ben] = [
        await store.createAccount('ann', dollars(1)),
        await store.createAccount('ben', dollars(1)),
      ];
      const { key } = await store.createKey(ann.id, 'laptop');
      const held = await Promise.all([
        ...requests(count).map((one) => store.hold(one, ann.id, HOLD_NANO, key.id)),
        ...requests(count, 's').map((one) => store.hold(one, ben.id, HOLD_NANO)),
      ]);
      expect(held.every(({ admitted }) => admitted)).to.equal(true);
      expect(await figures(store, ann.id)).to.deep.equal([dollars(1), HOLD_NANO * BigInt(count)]);
      const settled = await Promise.all([
        ...requests(count).map((one) => store.charge(known(one, ann.id, { key_id: key.id }))),
        ...requests(count, 's').map((one) => store.charge(known(one, ben.id))),
      ]);
      const whole = { uncollected_nano: 0n };
      expect(settled).to.deep.equal(Array.from({ length: 2 * count }, () => whole));
      for (const { id } of [ann, ben]) {
        expect(await figures(store, id)).to.deep.equal([dollars(1) - 3n * BigInt(count), 0n]);
      }
      const entries = await store.ledger(ann.id, { limit: 100 });
      expect(entries.slice(1).map(({ reference }) => reference)).to.have.members(requests(count));
      expect(entries[1]).to.deep.include({ amount_nano: -3n, key_id: key.id, kind: 'charge' });
      expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
    });
  }

  it('are admitted exactly as far as the balance bears', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 17n * HOLD_NANO + 9n);
    const held = await holdAll(store, requests(MANY), id);
    expect(held.filter(({ admitted }) => admitted)).to.have.length(17);
    expect(await figures(store, id)).to.deep.equal([179n, 170n]);
    expect(await store.verify()).to.deep.include({ open_holds: 17, faults: [] });
  });

  it('are admitted exactly as far as the limit of one of the keys bears', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const free = await store.createKey(id, 'laptop');
    const bound = await store.createKey(id, 'phone', { limit_nano: 55n });
    const [all, some] = await Promise.all([
      holdAll(store, requests(9, 's'), id, free.key.id),
      holdAll(store, requests(9), id, bound.key.id),
    ]);
    expect(all.every(({ admitted }) => admitted)).to.equal(true);
    expect(some.filter(({ admitted }) => admitted)).to.have.length(5);
    const settled = await Promise.all([
      ...requests(9, 's').map((one) => store.charge(known(one, id, { key_id: free.key.id }))),
      ...requests(9)
        .filter((_, at) => some[at]?.admitted)
        .map((one) => store.charge(known(one, id, { key_id: bound.key.id }))),
    ]);
    expect(settled.every(Boolean)).to.equal(true);
    const keys = await store.keys(id);
    expect(keys.map(({ spent_nano }) => spent_nano)).to.have.members([0n, 15n]);
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
  });

  it('are refused to a key that was revoked, and to no other', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const [one, other] = [await store.createKey(id, 'one'), await store.createKey(id, 'other')];
    await store.revokeKey(one.key.id);
    const [refused, admitted] = await Promise.all([
      holdAll(store, requests(5), id, one.key.id),
      holdAll(store, requests(5, 's'), id, other.key.id),
    ]);
    expect(refused).to.deep.equal(
      Array.from({ length: 5 }, () => ({ admitted: false, because: 'ended' })),
    );
    expect(admitted.every((result) => result.admitted)).to.equal(true);
    expect(await figures(store, id)).to.deep.equal([dollars(1), 50n]);
  });

  it('are charged once each, whichever are asked for twice', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    await holdAll(store, requests(MANY), id);
    const asked = [...requests(MANY), 'r3', 'r3', 'r7'];
    const settled = await Promise.all(asked.map((one) => store.charge(known(one, id))));
    expect(settled.filter(Boolean)).to.have.length(MANY);
    expect(await store.charge(known('r3', id))).to.equal(false);
    expect(await figures(store, id)).to.deep.equal([dollars(1) - 3n * BigInt(MANY), 0n]);
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
  });

  const strays: [string, (store: Store, id: string) => Promise<unknown>, number][] = [
    ['the hold of one is gone', (store, id) => store.release('r2', id), 1],
    ['one was charged before', (store, id) => store.charge(chargeOf('r2', id, 3n)), 1],
    [
      'one was charged before and has a hold again',
      async (store, id) => {
        await store.charge(chargeOf('r2', id, 3n));
        await store.hold('r2', id, HOLD_NANO);
      },
      1,
    ],
    [
      'the hold of one is not what it is said to be',
      async (store, id) => {
        await store.release('r2', id);
        await store.hold('r2', id, 25n);
      },
      1,
    ],
    [
      'the hold of one is of another account',
      async (store, id) => {
        const { id: ben } = await store.createAccount('ben', 100n);
        await store.release('r2', id);
        await store.hold('r2', ben, HOLD_NANO);
      },
      2,
    ],
  ];
  for (const [what, prepare, open_holds] of strays) {
    it(`come to the same where ${what}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', dollars(1));
      await holdAll(store, requests(6), id);
      await store.hold('another', id, 100n);
      await prepare(store, id);
      await Promise.all(requests(6).map((one) => store.charge(known(one, id))));
      expect(await figures(store, id)).to.deep.equal([dollars(1) - 18n, 100n]);
      expect(await store.verify()).to.deep.include({ open_holds, faults: [] });
    });
  }

  it('keep the answers of idempotent requests', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', dollars(1));
    const calls = requests(4).map((request_id) => {
      const due_ms = ground.now_ms + 1_000;
      return { account_id, request_id, key_sha256: request_id, request_sha256: 'a', due_ms };
    });
    await Promise.all(calls.map((call) => store.idempotency.begin(call)));
    await holdAll(store, requests(9), account_id);
    await Promise.all(
      requests(9).map((one, at) => {
        const call = calls[at];
        const answer = { status: 200, text: one };
        return store.charge(known(one, account_id), call && { ...call, answer });
      }),
    );
    for (const call of calls) {
      const answer = { status: 200, text: call.request_id };
      const again = await store.idempotency.begin({ ...call, request_id: 's' });
      expect(again).to.deep.equal({ is: 'answered', answer });
    }
    expect(await store.verify()).to.deep.include({ entries: 10, open_holds: 0, faults: [] });
  });

  it('use an amount that is released at the same time, if the account has no more', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    const { id: ben } = await store.createAccount('ben', 100n);
    await store.hold('r1', id, 100n);
    const [other, paid, next] = await Promise.all([
      store.hold('x', ben, 1n),
      store.charge(chargeOf('r1', id, 3n)),
      store.hold('r2', id, 90n),
    ]);
    expect(other.admitted).to.equal(true);
    expect(paid).to.deep.equal({ uncollected_nano: 0n });
    // PostgreSQL is asked by several connections, and either may come first.
    if (store.dialect === 'sqlite') expect(next).to.deep.equal({ admitted: true });
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('fail alone where one of them cannot be made', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    await holdAll(store, requests(5), id);
    const results = await Promise.allSettled([
      ...requests(5).map((one) => store.charge(known(one, id))),
      store.charge(known('r9', 'acc_none')),
    ]);
    expect(results.map(({ status }) => status)).to.deep.equal([
      ...requests(5).map(() => 'fulfilled'),
      'rejected',
    ]);
    expect(await store.verify()).to.deep.include({ entries: 6, open_holds: 0, faults: [] });
  });

  it('collect at most the balance if some cost more', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    await holdAll(store, requests(6), id);
    const settled = await Promise.all(
      requests(6).map((one, at) => {
        const hold = { hold_nano: HOLD_NANO };
        return store.charge(chargeOf(one, id, at < 3 ? 2n ** 62n : 3n, hold));
      }),
    );
    expect(settled.slice(3).every(Boolean)).to.equal(true);
    const entries = (await store.ledger(id, { limit: 10 })).slice(1);
    for (const { reference, amount_nano, uncollected_nano } of entries) {
      const isCheap = ['r3', 'r4', 'r5'].includes(reference);
      expect(uncollected_nano - amount_nano).to.equal(isCheap ? 3n : 2n ** 62n);
      if (isCheap) expect(amount_nano).to.equal(-3n);
    }
    const [balance_nano = -1n, held_nano] = await figures(store, id);
    expect(balance_nano >= 0n && balance_nano <= 3n * HOLD_NANO).to.equal(true);
    expect(held_nano).to.equal(0n);
    expect(await store.verify()).to.deep.include({ entries: 7, open_holds: 0, faults: [] });
  });

  it("collect at most the key's limit if its holds exceed it", async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const limit_nano = 2n ** 63n - 2n;
    const { key } = await store.createKey(id, 'pocket', { limit_nano });
    await holdAll(store, requests(4), id, key.id);
    const spent_nano = limit_nano - 7n;
    await ground.place.sql(`update keys set spent_nano = ${spent_nano}`);
    const settling = requests(4).map((one) => store.charge(known(one, id, { key_id: key.id })));
    expect((await Promise.all(settling)).every(Boolean)).to.equal(true);
    const [row] = await store.keys(id);
    expect((row?.spent_nano ?? 0n) <= spent_nano + 7n).to.equal(true);
    const entries = (await store.ledger(id, { limit: 10 })).slice(1);
    for (const { amount_nano, uncollected_nano } of entries) {
      expect(uncollected_nano - amount_nano).to.equal(3n);
    }
  });

  it('add up for any concurrent calls', async () => {
    const store = await ground.open();
    let run = 0;
    const act = fc.record({
      request: fc.nat({ max: 12 }),
      amount: fc.bigInt({ min: 0n, max: 40n }),
      account: fc.nat({ max: 1 }),
      knows: fc.boolean(),
    });
    const property = fc.asyncProperty(
      fc.array(act, { maxLength: 30 }),
      fc.array(act, { maxLength: 30 }),
      async (holds, charges) => {
        run += 1;
        const name = (one: { request: number }) => `${run} r${one.request}`;
        const owners = await Promise.all(
          ['a', 'b'].map(async (letter) => {
            const { id } = await store.createAccount(`${letter}${run}`, 150n);
            const free = (await store.createKey(id, 'free')).key.id;
            const bound = (await store.createKey(id, 'bound', { limit_nano: 60n })).key.id;
            return { id, keys: ['key_1', free, bound] };
          }),
        );
        const payerOf = ({ account, request }: { account: number; request: number }) => {
          const { id, keys } = owners[account] ?? expect.fail();
          return { id, key_id: keys[request % 3] ?? expect.fail() };
        };
        const taken = await Promise.allSettled(
          holds.map((one) => {
            const { id, key_id } = payerOf(one);
            return store.hold(name(one), id, one.amount, key_id);
          }),
        );
        const admitted = new Map<string, bigint>();
        for (const [at, result] of taken.entries()) {
          const one = holds[at] ?? expect.fail();
          if (result.status === 'rejected' || !result.value.admitted) continue;
          expect(admitted.has(name(one))).to.equal(false);
          admitted.set(name(one), one.amount);
        }
        const settled = await Promise.all(
          charges.map((one) => {
            const { id, key_id } = payerOf(one);
            const hold_nano = one.knows ? (admitted.get(name(one)) ?? 7n) : undefined;
            const terms = hold_nano === undefined ? { key_id } : { key_id, hold_nano };
            return store.charge(chargeOf(name(one), id, one.amount, terms));
          }),
        );
        const made = charges.filter((_, at) => settled[at]);
        const asked = new Set(charges.map((one) => `${one.account} ${name(one)}`));
        expect(made).to.have.length(asked.size);
        for (const [at, { id }] of owners.entries()) {
          const due = made
            .filter(({ account }) => account === at)
            .reduce((sum, { amount }) => sum + amount, 0n);
          const entries = await store.ledger(id, { limit: 100 });
          const rest = entries.reduce((sum, one) => sum + one.uncollected_nano, 0n);
          const [balance_nano = -1n] = await figures(store, id);
          expect(balance_nano).to.equal(150n - (due - rest));
          expect(balance_nano >= 0n).to.equal(true);
        }
        expect((await store.verify()).faults).to.deep.equal([]);
      },
    );
    await fc.assert(property, { numRuns: ground.place.dialect === 'sqlite' ? 150 : 25 });
  });
});
