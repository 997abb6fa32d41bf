import { expect } from 'chai';
import fc from 'fast-check';
import type { Collected, Store } from '../../../src/store/store-types.js';
import { chargeOf, onEachStore } from '../helpers/ground.js';

async function figures(store: Store, id: string): Promise<(bigint | undefined)[]> {
  const account = await store.account(id);
  return [account?.balance_nano, account?.held_nano];
}

const chargesOf = async (store: Store, id: string) =>
  (await store.ledger(id, { limit: 1_000 })).filter(({ kind }) => kind === 'charge');

onEachStore('a charge that costs more than its hold', (ground) => {
  it('is collected in full if the account can pay it', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await store.hold('r1', id, 10n);
    const settled = await store.charge(chargeOf('r1', id, 60n, { hold_nano: 10n }));
    expect(settled).to.deep.equal({ uncollected_nano: 0n });
    expect(await figures(store, id)).to.deep.equal([40n, 0n]);
    const [row] = await chargesOf(store, id);
    expect(row).to.deep.include({ amount_nano: -60n, uncollected_nano: 0n });
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('takes nothing that other holds have set aside, and never goes below zero', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await store.hold('r1', id, 10n);
    await store.hold('r2', id, 70n);
    const settled = await store.charge(chargeOf('r1', id, 60n, { hold_nano: 10n }));
    expect(settled).to.deep.equal({ uncollected_nano: 30n });
    expect(await figures(store, id)).to.deep.equal([70n, 70n]);
    await store.charge(chargeOf('r2', id, 200n, { hold_nano: 70n }));
    expect(await figures(store, id)).to.deep.equal([0n, 0n]);
    const rows = await chargesOf(store, id);
    expect(rows.map((row) => [row.amount_nano, row.uncollected_nano])).to.deep.equal([
      [-30n, 30n],
      [-70n, 130n],
    ]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it("is collected up to the key's limit less its other holds", async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 1_000n);
    const { key } = await store.createKey(id, 'pocket', { limit_nano: 50n });
    const key_id = key.id;
    await store.hold('r1', id, 10n, key_id);
    await store.hold('r2', id, 15n, key_id);
    const settled = await store.charge(chargeOf('r1', id, 60n, { key_id, hold_nano: 10n }));
    expect(settled).to.deep.equal({ uncollected_nano: 25n });
    await store.charge(chargeOf('r2', id, 60n, { key_id, hold_nano: 15n }));
    expect((await store.keys(id))[0]?.spent_nano).to.equal(50n);
    expect(await figures(store, id)).to.deep.equal([950n, 0n]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('is collected by the same rule without a hold, and only once', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 20n);
    const charge = chargeOf('r1', id, 60n, { hold_nano: 70n });
    expect(await store.charge(charge)).to.deep.equal({ uncollected_nano: 40n });
    expect(await store.charge(charge)).to.equal(false);
    expect(await figures(store, id)).to.deep.equal([0n, 0n]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('records the amount that is not owed, and never collects it', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await store.hold('r1', id, 10n);
    const charge = chargeOf('r1', id, 8n, { hold_nano: 10n, not_owed_nano: 5n });
    expect(await store.charge(charge)).to.deep.equal({ uncollected_nano: 5n });
    const [row] = await chargesOf(store, id);
    expect(row).to.deep.include({ amount_nano: -8n, uncollected_nano: 5n });
    expect(await figures(store, id)).to.deep.equal([92n, 0n]);
  });

  it('keeps its answer with the collected amount', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', 20n);
    const due_ms = ground.now_ms + 1_000;
    const call = { account_id, request_id: 'r1', key_sha256: 'k', request_sha256: 'a', due_ms };
    await store.idempotency.begin(call);
    await store.hold('r1', account_id, 10n);
    const answer = { status: 200, text: 'whole' };
    const charge = chargeOf('r1', account_id, 60n, { hold_nano: 10n });
    const settled = await store.charge(charge, { ...call, answer });
    expect(settled).to.deep.equal({ uncollected_nano: 40n });
    const again = await store.idempotency.begin({ ...call, request_id: 'r2' });
    expect(again).to.deep.equal({ is: 'answered', answer });
  });

  it('never takes what the hold of a charge settled at the same time has set aside', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 50n);
    const holds = [0n, 1n, 30n, 0n];
    for (const [at, hold] of holds.entries()) await store.hold(`r${at}`, id, hold);
    const charges = [0n, 60n, 30n, 5n].map((cost, at) => chargeOf(`r${at}`, id, cost, {}));
    await Promise.all(charges.map((charge) => store.charge(charge)));
    const rows = await chargesOf(store, id);
    const third = rows.find(({ reference }) => reference === 'r2');
    expect(third).to.deep.include({ amount_nano: -30n, uncollected_nano: 0n });
    expect(await figures(store, id)).to.deep.equal([0n, 0n]);
  });

  it('never overdraws an account under concurrent calls', async () => {
    const store = await ground.open();
    let run = 0;
    const call = fc.record({
      hold: fc.bigInt({ min: 0n, max: 30n }),
      cost: fc.bigInt({ min: 0n, max: 60n }),
      not_owed: fc.constantFrom(undefined, 4n),
      end: fc.constantFrom('charge', 'charge', 'charge', 'release', 'leave', 'twice', 'late'),
      knows: fc.boolean(),
      limited: fc.boolean(),
    });
    const property = fc.asyncProperty(fc.array(call, { maxLength: 25 }), async (calls) => {
      run += 1;
      const { id } = await store.createAccount(`a${run}`, 150n);
      const limit_nano = 70n;
      const bound = (await store.createKey(id, 'bound', { limit_nano })).key.id;
      const free = (await store.createKey(id, 'free')).key.id;
      const asked = calls.map((one, at) => ({
        ...one,
        request_id: `${run} r${at}`,
        key_id: one.limited ? bound : free,
      }));
      const admitted = await Promise.all(
        asked.map(async ({ request_id, hold, key_id }) =>
          store.hold(request_id, id, hold, key_id).then((result) => result.admitted),
        ),
      );
      const settledOf = async (one: (typeof asked)[number]): Promise<(Collected | false)[]> => {
        if (one.end === 'leave') return [];
        if (one.end === 'release' || one.end === 'late') await store.release(one.request_id, id);
        if (one.end === 'release') return [];
        const { request_id, key_id, cost, hold, not_owed } = one;
        const terms = {
          key_id,
          ...(one.knows && { hold_nano: hold }),
          ...(not_owed !== undefined && { not_owed_nano: not_owed }),
        };
        const charge = chargeOf(request_id, id, cost, terms);
        const times = one.end === 'twice' ? 2 : 1;
        return Promise.all(Array.from({ length: times }, () => store.charge(charge)));
      };
      const done = asked.filter((one, at) => admitted[at] || one.end === 'late');
      const settled = await Promise.all(done.map(settledOf));
      const rows = new Map((await chargesOf(store, id)).map((row) => [row.reference, row]));
      for (const [at, one] of done.entries()) {
        const made = (settled[at] ?? []).flatMap((answer) => answer || []);
        const row = rows.get(one.request_id);
        expect(made).to.have.length(row ? 1 : 0);
        if (!row) continue;
        expect(row.uncollected_nano).to.equal(made[0]?.uncollected_nano);
        expect(row.uncollected_nano - row.amount_nano).to.equal(one.cost + (one.not_owed ?? 0n));
        const isHeld = one.end !== 'late';
        // Its hold was set aside for it alone.
        const least_nano = isHeld && one.hold < one.cost ? one.hold : one.cost;
        if (isHeld) expect(-row.amount_nano >= least_nano).to.equal(true);
      }
      const [balance_nano = 0n, held_nano = 0n] = await figures(store, id);
      expect(balance_nano >= held_nano && balance_nano >= 0n).to.equal(true);
      const key = (await store.keys(id)).find((one) => one.id === bound);
      expect((key?.spent_nano ?? 0n) <= limit_nano).to.equal(true);
      expect((await store.verify()).faults).to.deep.equal([]);
    });
    await fc.assert(property, { numRuns: store.dialect === 'sqlite' ? 150 : 80 });
  });
});
