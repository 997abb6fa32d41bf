import { expect } from 'chai';
import { dollars, onEachStore, refusal } from '../helpers/ground.js';

const ANN = { provider: 'google', subject: '1', email: 'ann@example.com' };

onEachStore('the store of identities', (ground) => {
  it('makes an account of a new identity, with its credit in the ledger', async () => {
    const store = await ground.open();
    const first = await store.sign_in.signIn(ANN, dollars(1));
    expect(first.newcomer).to.equal(true);
    expect(first.account).to.include({ name: ANN.email, balance_nano: dollars(1), held_nano: 0n });
    const again = await store.sign_in.signIn(ANN, dollars(1));
    expect(again).to.deep.equal({ account: first.account, newcomer: false });
    const entries = await store.ledger(first.account.id, { limit: 9 });
    expect(entries.map(({ reference }) => reference)).to.deep.equal(['sign-in credit']);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('makes one account of the same identity many times at once, in two processes', async () => {
    const stores = [await ground.open(), await ground.open()] as const;
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, at) => stores[at % 2 ? 1 : 0].sign_in.signIn(ANN, dollars(1))),
    );
    expect(new Set(all.map(({ account }) => account.id)).size).to.equal(1);
    expect(all.filter(({ newcomer }) => newcomer)).to.have.length(1);
    expect(await stores[0].accounts()).to.have.length(1);
    expect((await stores[0].account(ANN.email))?.balance_nano).to.equal(dollars(1));
    expect((await stores[0].verify()).faults).to.deep.equal([]);
  });

  it('joins the account that is named by the address, without a credit', async () => {
    const store = await ground.open();
    const made = await store.createAccount(ANN.email, dollars(3));
    const joined = await store.sign_in.signIn(ANN, dollars(1));
    expect(joined).to.deep.equal({ account: made, newcomer: false });
    const other = await store.sign_in.signIn({ ...ANN, provider: 'github' }, dollars(1));
    expect(other.account.id).to.equal(made.id);
    expect(await store.ledger(made.id, { limit: 9 })).to.have.length(1);
  });

  it('keeps an identity with its account when its address changes', async () => {
    const store = await ground.open();
    const { account } = await store.sign_in.signIn(ANN, 0n);
    const moved = await store.sign_in.signIn({ ...ANN, email: 'ann@elsewhere.org' }, dollars(1));
    expect(moved).to.deep.equal({ account, newcomer: false });
    const [row] = await ground.place.sql('select email from identities');
    expect(row).to.deep.equal({ email: 'ann@elsewhere.org' });
  });

  it('lets in an address that begins like the ID of an account', async () => {
    const store = await ground.open();
    const { account } = await store.sign_in.signIn({ ...ANN, email: 'acc_dept@example.com' }, 0n);
    expect((await store.account('acc_dept@example.com'))?.id).to.equal(account.id);
    expect(await refusal(store.createAccount('acc_dept', 0n))).to.match(/cannot begin with/);
  });
});
