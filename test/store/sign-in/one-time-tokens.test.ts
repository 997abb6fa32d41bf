import { expect } from 'chai';
import { onEachStore, refusal } from '../helpers/ground.js';

const LIMITS = { idle_ms: 1_000, lifetime_ms: 1_000 };
const TEN_MINUTES = { operator: true, lifetime_ms: 600_000 };
const PENDING = {
  provider: 'google',
  return_to: '/usage',
};

onEachStore('sign-in links', (ground) => {
  it('are good once, also when many use one at once in two processes', async () => {
    const stores = [await ground.open(), await ground.open()] as const;
    const { id } = await stores[0].createAccount('ann', 0n);
    const { secret, due_ms } = await stores[0].sign_in.createLink(id, TEN_MINUTES);
    expect(due_ms).to.equal(ground.now_ms + 600_000);
    const used = await Promise.all(
      Array.from({ length: 8 }, (_, at) => stores[at % 2 ? 1 : 0].sign_in.useLink(secret)),
    );
    const given = used.filter((one) => one !== undefined);
    expect(given).to.deep.equal([{ account_id: id, operator: true }]);
    expect(await stores[0].sign_in.useLink(secret)).to.equal(undefined);
  });

  it('are stored as a hash alone', async () => {
    const store = await ground.open();
    const { sign_in } = store;
    const { id } = await store.createAccount('ann', 0n);
    const { secret } = await sign_in.createLink(id, TEN_MINUTES);
    const [row] = await ground.place.sql('select secret_sha256 from sign_in_links');
    expect(row?.secret_sha256)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.contain(secret);
    expect(await sign_in.useLink(String(row?.secret_sha256))).to.equal(undefined);
  });

  it('die when they are due, and are swept then', async () => {
    const store = await ground.open();
    const { sign_in } = store;
    const { id } = await store.createAccount('ann', 0n);
    const { secret } = await sign_in.createLink(id, TEN_MINUTES);
    ground.now_ms += 600_000;
    expect(await sign_in.useLink(secret)).to.equal(undefined);
    await sign_in.sweep(LIMITS);
    expect(await ground.place.sql('select account_id from sign_in_links')).to.deep.equal([]);
  });

  it('are refused to an account that does not exist', async () => {
    const { sign_in } = await ground.open();
    expect(await refusal(sign_in.createLink('acc_none', TEN_MINUTES))).to.equal(
      'StoreError: There is no account acc_none.',
    );
  });
});

onEachStore('pending sign-ins', (ground) => {
  it('are taken up again once, by their secret', async () => {
    const { sign_in } = await ground.open();
    const secret = await sign_in.beginSignIn(PENDING, 1_000);
    const all = await Promise.all([1, 2, 3].map(() => sign_in.finishSignIn(secret)));
    expect(all.filter((one) => one !== undefined)).to.deep.equal([PENDING]);
  });

  it('die when they are due, and are swept then', async () => {
    const { sign_in } = await ground.open();
    const secret = await sign_in.beginSignIn(PENDING, 1_000);
    ground.now_ms += 1_000;
    expect(await sign_in.finishSignIn(secret)).to.equal(undefined);
    await sign_in.sweep(LIMITS);
    expect(await ground.place.sql('select provider from pending_sign_ins')).to.deep.equal([]);
  });

  it('are ten thousand at the most: then the oldest go', async () => {
    const { sign_in } = await ground.open();
    const oldest = await sign_in.beginSignIn(PENDING, 1_000);
    const older = await sign_in.beginSignIn(PENDING, 1_001);
    const due_ms = ground.now_ms + 2_000;
    const rows = Array.from({ length: 9_998 }, (_, at) => `('${at}', 'p', '/', ${due_ms})`);
    await ground.place.sql(`insert into pending_sign_ins
      (secret_sha256, provider, return_to, due_ms)
      values ${rows.join(',')}`);
    await sign_in.beginSignIn(PENDING, 2_001);
    const [left] = await ground.place.sql('select count(*) as rows from pending_sign_ins');
    expect(Number(left?.rows)).to.equal(10_000);
    expect(await sign_in.finishSignIn(oldest)).to.equal(undefined);
    expect(await sign_in.finishSignIn(older)).to.deep.equal(PENDING);
  });
});
