import { expect } from 'chai';
import { IdTaken } from '../../../src/store/store-error.js';
import { onEachStore, refusal } from '../helpers/ground.js';

onEachStore('management tokens', (ground) => {
  it('are found by their secret, of which the store has the hash alone', async () => {
    const store = await ground.open();
    const made = await store.tokens.create({
      name: 'shop',
      scopes: ['credit:write', 'accounts:read', 'credit:write'],
    });
    expect(made.secret).to.match(/^tgm_[0-9A-Za-z]{42}$/u);
    expect(made.token).to.deep.include({
      name: 'shop',
      prefix: made.secret.slice(0, 10),
      scopes: ['accounts:read', 'credit:write'],
      expires_ms: null,
    });
    const found = await store.tokens.find(made.secret);
    expect(found).to.deep.equal(made.token);
    expect(await store.tokens.list()).to.deep.equal([
      { ...made.token, last_used_ms: ground.now_ms },
    ]);
    expect(await store.tokens.find(`${made.secret}x`)).to.equal(undefined);
    const rows = await ground.place.sql(
      'select name, prefix, secret_sha256 from management_tokens',
    );
    const audit = await ground.place.sql('select * from audit');
    const text = JSON.stringify([rows, audit], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(text).not.to.contain(made.secret);
  });

  it('end at once in every process, and at their time', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const scopes = ['accounts:read'] as const;
    const one = await store.tokens.create({ name: 'one', scopes });
    const expires_ms = ground.now_ms + 1_000;
    const two = await store.tokens.create({ name: 'two', scopes, expires_ms });
    expect((await other.tokens.find(one.secret))?.id).to.equal(one.token.id);
    expect(await store.tokens.revoke(one.token.id)).to.equal(true);
    expect(await store.tokens.revoke(one.token.id)).to.equal(false);
    expect(await other.tokens.find(one.secret)).to.equal(undefined);
    expect((await other.tokens.find(two.secret))?.id).to.equal(two.token.id);
    ground.now_ms = expires_ms;
    expect(await other.tokens.find(two.secret)).to.equal(undefined);
    expect(await other.tokens.isToken(one.secret)).to.equal(true);
    expect(await other.tokens.isToken('tgm_guess')).to.equal(false);
  });

  it('are one of one ID, however many processes ask for it at once', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const scopes = ['accounts:read'] as const;
    const made = await Promise.allSettled(
      Array.from({ length: 6 }, (_, at) =>
        (at % 2 === 0 ? store : other).tokens.create({ name: 'twice', scopes, id: 'mgt_chosen' }),
      ),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const reason of refused) expect(reason).to.be.instanceOf(IdTaken);
    expect(await store.tokens.list()).to.have.length(1);
    const [audit] = await ground.place.sql('select count(*) as rows from audit');
    expect(Number(audit?.rows)).to.equal(1);
  });

  it('need a name, a scope and a future', async () => {
    const { tokens } = await ground.open();
    const scopes = ['accounts:read'] as const;
    expect(await refusal(tokens.create({ name: ' ', scopes }))).to.contain('needs a name');
    expect(await refusal(tokens.create({ name: 'a', scopes: [] }))).to.contain('one scope');
    const past = tokens.create({ name: 'a', scopes, expires_ms: ground.now_ms });
    expect(await refusal(past)).to.contain('later than now');
    expect(await tokens.list()).to.deep.equal([]);
  });
});
