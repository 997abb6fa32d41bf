import { expect } from 'chai';
import { dollars, onEachStore, refusal } from '../helpers/ground.js';

onEachStore('the store of accounts', (ground) => {
  it('opens an account with its credit in the ledger', async () => {
    const store = await ground.open();
    const account = await store.createAccount('ann', dollars(10));
    expect(account).to.deep.equal({
      id: account.id,
      name: 'ann',
      balance_nano: dollars(10),
      held_nano: 0n,
      created_ms: ground.now_ms,
      suspended_ms: null,
      rates: null,
    });
    expect(account.id).to.match(/^acc_[0-9A-Za-z]{16}$/);
    const entries = await store.ledger(account.id, { limit: 10 });
    expect(entries.map(({ kind, reference, amount_nano }) => [kind, reference, amount_nano]))
      .to //
      .deep.equal([['credit', 'opening credit', dollars(10)]]);
  });

  it('opens an account with nothing without an entry', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    expect(await store.ledger(id, { limit: 10 })).to.deep.equal([]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('finds an account by its ID and by its name', async () => {
    const store = await ground.open();
    const ann = await store.createAccount('ann', 1n);
    await store.createAccount('ben', 2n);
    expect(await store.account(ann.id)).to.deep.equal(ann);
    expect(await store.account('ann')).to.deep.equal(ann);
    expect(await store.account('cid')).to.equal(undefined);
  });

  it('lists accounts, oldest first', async () => {
    const store = await ground.open();
    expect(await store.accounts()).to.deep.equal([]);
    await store.createAccount('zoe', 0n);
    ground.now_ms += 1;
    await store.createAccount('ann', 2n ** 63n - 1n);
    expect((await store.accounts()).map(({ name }) => name)).to.deep.equal(['zoe', 'ann']);
    expect((await store.accounts())[1]?.balance_nano).to.equal(2n ** 63n - 1n);
  });

  const refused: [string, string, bigint, string][] = [
    ['a name that is taken', 'ann', 5n, 'There is an account named "ann" already.'],
    ['an empty name', '  ', 0n, 'An account needs a name.'],
    ['a name like an ID', 'acc_1', 0n, 'The name of an account cannot begin with "acc_".'],
    ['a debt', 'ben', -1n, 'An account cannot open with less than zero.'],
    ['too much', 'ben', 2n ** 63n, 'The credit is more than a balance can hold.'],
  ];
  for (const [what, name, credit_nano, message] of refused) {
    it(`refuses ${what}`, async () => {
      const store = await ground.open();
      await store.createAccount('ann', 1n);
      expect(await refusal(store.createAccount(name, credit_nano)))
        .to //
        .equal(`StoreError: ${message}`);
      expect(await store.accounts()).to.have.length(1);
      expect((await store.verify()).faults).to.deep.equal([]);
    });
  }

  it('gives a name to one of many who ask at once', async () => {
    const stores = [await ground.open(), await ground.open()] as const;
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => stores[at % 2 ? 1 : 0].createAccount('ann', 7n)),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    const report = await stores[0].verify();
    expect(report).to.deep.equal({ accounts: 1, entries: 1, open_holds: 0, faults: [] });
  });

  it('reads accounts in pages, by name', async () => {
    const store = await ground.open();
    for (const name of ['cleo', 'ann', 'ben']) await store.createAccount(name, 0n);
    const first = await store.accounts({ limit: 2 });
    const rest = await store.accounts({ after: 'ben', limit: 2 });
    expect(first.map(({ name }) => name)).to.deep.equal(['ann', 'ben']);
    expect(rest.map(({ name }) => name)).to.deep.equal(['cleo']);
  });
});
