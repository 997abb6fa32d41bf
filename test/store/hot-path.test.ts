import { expect } from 'chai';
import type { Store } from '../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, refusal } from './helpers/ground.js';

async function figures(store: Store, id: string): Promise<(bigint | undefined)[]> {
  const account = await store.account(id);
  return [account?.balance_nano, account?.held_nano];
}

onEachStore('the store of holds and charges', (ground) => {
  it('holds what the balance bears', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(10));
    expect(await store.hold('r1', id, dollars(6))).to.deep.equal({ admitted: true });
    expect(await store.hold('r2', id, dollars(4))).to.deep.equal({ admitted: true });
    expect(await figures(store, id)).to.deep.equal([dollars(10), dollars(10)]);
    expect((await store.verify()).open_holds).to.equal(2);
  });

  for (const amount_nano of [dollars(4) + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 80n]) {
    it(`refuses ${amount_nano} where ${dollars(4)} are left, and says the figures`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', dollars(10));
      await store.hold('r1', id, dollars(6));
      expect(await store.hold('r2', id, amount_nano)).to.deep.equal({
        admitted: false,
        because: 'balance',
        balance_nano: dollars(10),
        held_nano: dollars(6),
      });
      expect(await figures(store, id)).to.deep.equal([dollars(10), dollars(6)]);
      expect((await store.verify()).open_holds).to.equal(1);
    });
  }

  it('admits a hold of nothing on an empty account', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    expect(await store.hold('r1', id, 0n)).to.deep.equal({ admitted: true });
  });

  it('refuses a hold below zero, of nobody, or of a request that has one', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 10n);
    await store.hold('r1', id, 1n);
    expect(await refusal(store.hold('r2', id, -1n))).to.contain('StoreError: A hold cannot be');
    expect(await refusal(store.hold('r2', 'acc_none', 1n))).to.equal(
      'StoreError: There is no account acc_none.',
    );
    expect(await refusal(store.hold('r1', id, 2n))).to.match(/unique/i);
    expect(await figures(store, id)).to.deep.equal([10n, 1n]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('charges, ends the hold and writes the row', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(10));
    await store.hold('r1', id, dollars(6));
    const classes = { cached_tokens: 3, reasoning_tokens: 0 };
    const charge = chargeOf('r1', id, dollars(2), { estimated: true, ...classes });
    const settled = await store.charge(charge);
    expect(settled).to.deep.equal({ uncollected_nano: 0n });
    expect(await figures(store, id)).to.deep.equal([dollars(8), 0n]);
    const entry = (await store.ledger(id, { limit: 9 }))[1];
    expect(entry).to.deep.equal({
      id: entry?.id,
      account_id: id,
      kind: 'charge',
      reference: 'r1',
      refund_of: null,
      amount_nano: -dollars(2),
      key_id: 'key_1',
      model: 'gpt-4o-mini',
      provider: 'openai',
      usage: '{"prompt_tokens":9,"completion_tokens":5}',
      estimated: true,
      cached_tokens: 3,
      cache_write_tokens: null,
      cache_write_1h_tokens: null,
      audio_input_tokens: null,
      image_input_tokens: null,
      audio_output_tokens: null,
      image_output_tokens: null,
      reasoning_tokens: 0,
      agent: null,
      upstream_model: null,
      saved_nano: null,
      lost_nano: null,
      cost_nano: null,
      uncollected_nano: 0n,
      created_ms: ground.now_ms,
    });
  });

  it('charges a request once, one after the other or all at once', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const { id } = await store.createAccount('ann', 100n);
    await store.hold('r1', id, 10n);
    const first = await store.charge(chargeOf('r1', id, 3n));
    const second = await other.charge(chargeOf('r1', id, 4n));
    await store.hold('r2', id, 10n);
    const many = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        (at % 2 ? store : other).charge(chargeOf('r2', id, 5n)),
      ),
    );
    expect([first, second]).to.deep.equal([{ uncollected_nano: 0n }, false]);
    expect(many.filter(Boolean)).to.have.length(1);
    expect(await figures(store, id)).to.deep.equal([92n, 0n]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('charges without a hold what the account has, and never below zero', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 5n);
    expect(await store.charge(chargeOf('r1', id, 8n))).to.deep.equal({ uncollected_nano: 3n });
    expect(await figures(store, id)).to.deep.equal([0n, 0n]);
    expect(await store.hold('r2', id, 1n)).to.deep.include({ admitted: false });
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('frees the hold of a request that was charged before', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 50n);
    await store.charge(chargeOf('r1', id, 8n));
    await store.hold('r1', id, 20n);
    expect(await store.charge(chargeOf('r1', id, 8n))).to.equal(false);
    expect(await figures(store, id)).to.deep.equal([42n, 0n]);
  });

  it('writes a charge of nothing', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 5n);
    await store.hold('r1', id, 5n);
    expect(await store.charge(chargeOf('r1', id, 0n))).to.deep.equal({ uncollected_nano: 0n });
    expect(await figures(store, id)).to.deep.equal([5n, 0n]);
    expect(await store.verify()).to.deep.include({ entries: 2, faults: [] });
  });

  const absurd: [string, bigint, RegExp][] = [
    ['below zero', -1n, /^StoreError: The charge of request r1 is not an amount: -1 and 0\.$/],
    ['over the column', 2n ** 63n, /^StoreError: The charge of request r1 is not an amount/],
  ];
  for (const [what, cost_nano, message] of absurd) {
    it(`refuses a charge ${what}, and changes nothing`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', 5n);
      await store.charge(chargeOf('r0', id, 7n));
      await store.credit(id, 9n, 'again');
      await store.hold('r1', id, 5n);
      await ground.place.sql(`update accounts set balance_nano = -2`);
      expect(await refusal(store.charge(chargeOf('r1', id, cost_nano)))).to.match(message);
      expect(await figures(store, id)).to.deep.equal([-2n, 5n]);
      expect((await store.verify()).entries).to.equal(3);
    });
  }

  it('refuses a charge to an account that does not exist', async () => {
    const store = await ground.open();
    expect(await refusal(store.charge(chargeOf('r1', 'acc_none', 1n)))).to.match(
      /foreign key|no account/i,
    );
    expect((await store.verify()).entries).to.equal(0);
  });

  it('touches only the hold of the account that is named', async () => {
    const store = await ground.open();
    const ann = await store.createAccount('ann', 10n);
    const ben = await store.createAccount('ben', 10n);
    await store.hold('r1', ann.id, 4n);
    await store.release('r1', ben.id);
    await store.charge(chargeOf('r1', ben.id, 1n));
    expect(await figures(store, ann.id)).to.deep.equal([10n, 4n]);
    expect(await figures(store, ben.id)).to.deep.equal([9n, 0n]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('releases a hold, and a hold that is not there', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 10n);
    await store.hold('r1', id, 10n);
    await store.release('r1', id);
    await store.release('r1', id);
    await store.release('r2', 'acc_none');
    expect(await figures(store, id)).to.deep.equal([10n, 0n]);
    expect((await store.verify()).open_holds).to.equal(0);
  });

  it('admits exactly as many of 200 at once as the balance bears', async () => {
    const stores = [await ground.open(), await ground.open()] as const;
    const { id } = await stores[0].createAccount('ann', 37n * 5n + 4n);
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, at) => stores[at % 2 ? 1 : 0].hold(`r${at}`, id, 5n)),
    );
    expect(results.filter(({ admitted }) => admitted)).to.have.length(37);
    expect(await figures(stores[0], id)).to.deep.equal([189n, 185n]);
    expect(await stores[0].verify()).to.deep.include({ open_holds: 37, faults: [] });
  });

  it('answers a ping while it is open', async () => {
    const store = await ground.open();
    await store.ping();
    await ground.close(store);
    await refusal(store.ping());
  });

  it('writes what was asked for before it closes', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 10n);
    const asked = [store.hold('r1', id, 1n), store.charge(chargeOf('r2', id, 2n))];
    await ground.close(store);
    await Promise.all(asked);
    const again = await ground.open();
    expect(await figures(again, id)).to.deep.equal([8n, 1n]);
  });
});
