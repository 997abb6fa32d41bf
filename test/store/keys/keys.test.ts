import { expect } from 'chai';
import { isWellFormed, sha256 } from '../../../src/store/keys/secret.js';
import { onEachStore, refusal } from '../helpers/ground.js';
import { IdTaken, TooManyKeys } from '../../../src/store/store-error.js';
import type { KeyTerms } from '../../../src/store/keys/keys.js';

onEachStore('the store of API keys', (ground) => {
  it('shows the secret once and stores its hash alone', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const { key, secret } = await store.createKey(id, 'laptop');
    expect(isWellFormed(secret)).to.equal(true);
    expect(key).to.deep.equal({
      id: key.id,
      account_id: id,
      name: 'laptop',
      prefix: secret.slice(0, 10),
      created_ms: ground.now_ms,
      last_used_ms: null,
      revoked_ms: null,
      expires_ms: null,
      models: null,
      limit_nano: null,
      spent_nano: 0n,
      rates: null,
      previous_until_ms: null,
    });
    expect(await store.keys(id)).to.deep.equal([key]);
    const rows = JSON.stringify(await ground.place.sql('select id, secret_sha256 from keys'));
    expect(rows).to.contain(sha256(secret)).and.not.to.contain(secret);
  });

  it('knows the caller by the hash of the secret', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const { key, secret } = await store.createKey(id, 'laptop');
    const caller = { key_id: key.id, account_id: id, models: undefined };
    expect(await store.caller(sha256(secret))).to.deep.equal({ ...caller, empty: true });
    await store.credit(id, 1n, 'top-up');
    expect(await store.caller(sha256(secret))).to.deep.equal(caller);
    await store.hold('request-1', id, 1n);
    expect(await store.caller(sha256(secret))).to.deep.equal({ ...caller, empty: true });
    expect(await store.caller(sha256('tg-other'))).to.equal(undefined);
    expect(await store.caller(secret)).to.equal(undefined);
  });

  it('knows a key that has ended from one that never was', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const { key, secret } = await store.createKey(id, 'laptop');
    await store.revokeKey(key.id);
    expect(await store.isKey(sha256(secret))).to.equal(true);
    expect(await store.isKey(sha256('tg-other'))).to.equal(false);
  });

  it('revokes a key for every store at once', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const { id } = await store.createAccount('ann', 0n);
    const { key, secret } = await store.createKey(id, 'laptop');
    const { secret: kept } = await store.createKey(id, 'server');
    expect(await other.caller(sha256(secret))).not.to.equal(undefined);
    ground.now_ms += 5;
    expect(await store.revokeKey(key.id)).to.equal(true);
    expect(await other.caller(sha256(secret))).to.equal(undefined);
    expect(await other.caller(sha256(kept))).not.to.equal(undefined);
    expect((await other.keys(id)).find((one) => one.id === key.id)?.revoked_ms)
      .to //
      .equal(ground.now_ms);
  });

  it('gives those who ask at once nothing that one could change for the others', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const { secret } = await store.createKey(id, 'laptop', { models: ['a'] });
    const asked = Array.from({ length: 3 }, () => store.caller(sha256(secret)));
    for (const caller of await Promise.all(asked)) {
      expect([caller, caller?.models].map(Object.isFrozen)).to.deep.equal([true, true]);
    }
  });

  it('asks anew for whoever comes once a key is revoked, however many are being answered', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const { id } = await store.createAccount('ann', 0n);
    for (let round = 0; round < 20; round++) {
      const { key, secret } = await store.createKey(id, `key ${round}`);
      const [good, bad] = [sha256(secret), sha256(`tg-${round}`)];
      const before = Array.from({ length: 20 }, (_, at) => store.caller(at % 5 ? good : bad));
      const revoked = other.revokeKey(key.id);
      const during = Array.from({ length: 20 }, () => store.caller(good));
      await revoked;
      const after = await Promise.all(Array.from({ length: 5 }, () => store.caller(good)));
      expect(after).to.deep.equal(Array.from({ length: 5 }, () => undefined));
      const answers = await Promise.all([...before, ...during]);
      const known = answers.filter((caller) => caller !== undefined);
      for (const caller of known) expect(caller.key_id).to.equal(key.id);
      for (let at = 0; at < 20; at += 5) expect(answers[at]).to.equal(undefined);
    }
  });

  it('answers false for a key that is revoked already or unknown', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const { key } = await store.createKey(id, 'laptop');
    await store.revokeKey(key.id);
    expect(await store.revokeKey(key.id)).to.equal(false);
    expect(await store.revokeKey('key_none')).to.equal(false);
  });

  it('notes the use of a key at most once a minute', async () => {
    let store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const { secret } = await store.createKey(id, 'laptop');
    const began_ms = ground.now_ms;
    const noted: (number | null | undefined)[] = [];
    for (const passed_ms of [0, 60_000, 60_001, 61_000]) {
      ground.now_ms = began_ms + passed_ms;
      await store.caller(sha256(secret));
      // Nobody waits for the note, but closing does.
      await ground.close(store);
      store = await ground.open();
      noted.push((await store.keys(id))[0]?.last_used_ms);
    }
    expect(noted).to.deep.equal([began_ms, began_ms, began_ms + 60_001, began_ms + 60_001]);
  });

  it('lists keys, oldest first, each under its own account', async () => {
    const store = await ground.open();
    const ann = await store.createAccount('ann', 0n);
    const ben = await store.createAccount('ben', 0n);
    for (const name of ['z', 'm', 'a']) {
      await store.createKey(ann.id, name);
      ground.now_ms += 1;
    }
    expect((await store.keys(ann.id)).map(({ name }) => name)).to.deep.equal(['z', 'm', 'a']);
    expect(await store.keys(ben.id)).to.deep.equal([]);
  });

  it('finds a key by its ID, revoked or not, of any account', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const { key } = await store.createKey(id, 'laptop', { models: ['m'], limit_nano: 5n });
    expect(await store.key(key.id)).to.deep.equal(key);
    await store.revokeKey(key.id);
    expect(await store.key(key.id)).to.deep.equal({ ...key, revoked_ms: ground.now_ms });
    for (const none of ['key_none', '', 'a\0b', '\ud800']) {
      expect(await store.key(none)).to.equal(undefined);
    }
  });

  it('keeps the terms of a key', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const terms = {
      expires_ms: ground.now_ms + 1,
      models: ['gpt-4o-mini', 'google/veo-3.1', 'gpt-4o-mini'],
      limit_nano: 2n ** 63n - 2n,
    };
    const { key } = await store.createKey(id, 'laptop', terms);
    const models = ['gpt-4o-mini', 'google/veo-3.1'];
    expect(key).to.deep.include({ ...terms, models, spent_nano: 0n });
    expect(await store.keys(id)).to.deep.equal([key]);
  });

  const impossible: [string, (now_ms: number) => KeyTerms, RegExp][] = [
    ['that has expired', (now_ms) => ({ expires_ms: now_ms }), /later than now/],
    ['that never began', () => ({ expires_ms: Number.NaN }), /later than now/],
    ['for no model', () => ({ models: [] }), /1 to 100/],
    ['for too many models', () => ({ models: Array<string>(101).fill('m') }), /1 to 100/],
    ['that may spend nothing', () => ({ limit_nano: 0n }), /above zero/],
    ['that may spend more than there is', () => ({ limit_nano: 2n ** 63n - 1n }), /fit a balance/],
  ];
  for (const [what, terms, message] of impossible) {
    it(`refuses a key ${what}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', 0n);
      expect(await refusal(store.createKey(id, 'x', terms(ground.now_ms)))).to.match(message);
      expect(await store.keys(id)).to.deep.equal([]);
    });
  }

  it('revokes for an account its own key alone', async () => {
    const store = await ground.open();
    const ann = await store.createAccount('ann', 0n);
    const ben = await store.createAccount('ben', 0n);
    const { key, secret } = await store.createKey(ann.id, 'laptop');
    expect(await store.revokeKey(key.id, ben.id)).to.equal(false);
    expect(await store.caller(sha256(secret))).not.to.equal(undefined);
    expect(await store.revokeKey(key.id, ann.id)).to.equal(true);
    expect(await store.revokeKey(key.id, ann.id)).to.equal(false);
    expect(await store.caller(sha256(secret))).to.equal(undefined);
  });

  it('refuses a key without an account or a name', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    expect(await refusal(store.createKey('acc_none', 'x'))).to.equal(
      'StoreError: There is no account acc_none.',
    );
    expect(await refusal(store.createKey(id, ' '))).to.equal('StoreError: A key needs a name.');
  });

  it('keeps an account from more active keys than it may have, however many ask at once', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const { id } = await store.createAccount('ann', 0n);
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? store : other).createKey(id, `k${i}`, { max_active: 3 }),
      ),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(3);
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const reason of refused) expect(reason).to.be.instanceOf(TooManyKeys);
    const [key] = await store.keys(id);
    await store.revokeKey(key?.id ?? '');
    await store.createKey(id, 'late', { max_active: 3, expires_ms: ground.now_ms + 10 });
    ground.now_ms += 10;
    await store.createKey(id, 'in place of the expired one', { max_active: 3 });
    const over = refusal(store.createKey(id, 'one too many', { max_active: 3 }));
    expect(await over).to.equal(
      'TooManyKeys: The account has 3 active keys, and may not have more.',
    );
  });

  it('makes one key of one ID, however many processes ask for it at once', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const { id: account_id } = await store.createAccount('ann', 0n);
    const terms = { id: 'key_chosen', max_active: 3 };
    const made = await Promise.allSettled(
      Array.from({ length: 6 }, (_, i) =>
        (i % 2 === 0 ? store : other).createKey(account_id, 'twice', terms),
      ),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const reason of refused) expect(reason).to.be.instanceOf(IdTaken);
    expect(await store.keys(account_id)).to.have.length(1);
  });
});
