import { expect } from 'chai';
import fc from 'fast-check';
import type { Actor } from '../../../src/core/actor.js';
import type { KeyChange } from '../../../src/store/keys/key-changes.js';
import { sha256 } from '../../../src/store/keys/secret.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, refusal, type Ground } from '../helpers/ground.js';

const DAY_MS = 86_400_000;
const ANN: Actor = { kind: 'person', id: 'acc_ann', name: 'ann@example.org', request_id: 'r' };

async function begin(ground: Ground) {
  const [store, other] = [await ground.open(), await ground.open()];
  const { id } = await store.createAccount('ann', dollars(100));
  const { key, secret } = await store.createKey(id, 'laptop');
  return { store, other, id, key, secret };
}

/** The last row of the audit log. */
async function lastChange(store: Store) {
  const [entry] = await store.audit.list({ limit: 1 });
  return entry;
}

onEachStore('an edit of a key', (ground) => {
  it('changes each term, keeps the others, and leaves one row with before and after', async () => {
    const { store, other, id, key, secret } = await begin(ground);
    const expires_ms = ground.now_ms + DAY_MS;
    const change: KeyChange = {
      name: 'server',
      expires_ms,
      models: ['a', 'b', 'a'],
      limit_nano: dollars(5),
      rates: { requests_per_minute: 60 },
    };
    const edited = await store.editKey(key.id, change, ANN);
    expect(edited).to.deep.equal({
      ...key,
      name: 'server',
      expires_ms,
      models: ['a', 'b'],
      limit_nano: dollars(5),
      rates: { requests_per_minute: 60 },
    });
    expect(await other.keys(id)).to.deep.equal([edited]);
    expect(await other.caller(sha256(secret))).to.deep.equal({
      key_id: key.id,
      account_id: id,
      models: ['a', 'b'],
      key_rates: { requests_per_minute: 60 },
    });
    const expires = new Date(expires_ms).toISOString();
    const rates = { requests_per_minute: 60 };
    expect(await lastChange(store)).to.deep.include({
      action: 'key.edit',
      actor: ANN,
      subject: key.id,
      account_id: id,
      before: { name: 'laptop', expires: null, models: null, limit: null, rates: null },
      after: { name: 'server', expires, models: ['a', 'b'], limit: '5.00', rates },
    });
    const more = await store.editKey(key.id, { rates: { concurrent_requests: 2 } });
    expect(more?.rates).to.deep.equal({ requests_per_minute: 60, concurrent_requests: 2 });
    expect(await lastChange(store)).to.deep.include({
      before: { rates },
      after: { rates: more?.rates },
    });
  });

  it('takes terms away', async () => {
    const { store, id, key, secret } = await begin(ground);
    const rates = { requests_per_minute: 60, tokens_per_minute: 1_000 };
    const expires_ms = ground.now_ms + 1;
    await store.editKey(key.id, { expires_ms, models: ['a'], limit_nano: 1n, rates });
    const none = { requests_per_minute: null, tokens_per_minute: null };
    const bare = { expires_ms: null, models: null, limit_nano: null, rates: none };
    expect(await store.editKey(key.id, bare)).to.deep.equal(key);
    expect(await store.keys(id)).to.deep.equal([key]);
    expect(await store.caller(sha256(secret))).not.to.have.property('key_rates');
    expect(await store.hold('r1', id, dollars(50), key.id)).to.deep.equal({ admitted: true });
  });

  it('leaves no row where it changes nothing', async () => {
    const { store, key } = await begin(ground);
    await store.editKey(key.id, { limit_nano: 5n, rates: { concurrent_requests: 1 } });
    const before = await lastChange(store);
    const same = { name: 'laptop', limit_nano: 5n, rates: { concurrent_requests: 1 } };
    expect(await store.editKey(key.id, same)).to.deep.include({ limit_nano: 5n });
    await store.editKey(key.id, {});
    expect(await lastChange(store)).to.deep.equal(before);
  });

  it('knows no key that is revoked, or never was', async () => {
    const { store, key } = await begin(ground);
    await store.revokeKey(key.id);
    for (const id of [key.id, 'key_other', 'key_\0']) {
      expect(await store.editKey(id, { name: 'new' })).to.equal(undefined);
      expect(await store.rotateKey(id, { overlap_ms: 0 })).to.equal(undefined);
    }
  });

  it('refuses terms that allow nothing, and changes nothing then', async () => {
    const { store, id, key } = await begin(ground);
    const faults: [KeyChange, string][] = [
      [{ name: ' ' }, 'needs a name'],
      [{ expires_ms: ground.now_ms }, 'later than now'],
      [{ models: [] }, '1 to 100'],
      [{ limit_nano: 0n }, 'above zero'],
      [{ limit_nano: 2n ** 63n - 1n }, 'fit a balance'],
      [{ rates: { tokens_per_minute: 0 } }, 'whole number above zero'],
      [{ rates: { concurrent_requests: 1.5 } }, 'whole number above zero'],
    ];
    for (const [change, message] of faults) {
      expect(await refusal(store.editKey(key.id, change))).to.include(message);
    }
    expect(await store.keys(id)).to.deep.equal([key]);
  });

  it('revives an expired key, where the account may have one more', async () => {
    const { store, id, secret } = await begin(ground);
    const { key: old } = await store.createKey(id, 'old', { expires_ms: ground.now_ms + 1 });
    ground.now_ms += 1;
    const change = { expires_ms: null, max_active: 1 };
    expect(await refusal(store.editKey(old.id, change))).to.include('has 1 active keys');
    expect(await store.editKey(old.id, { name: 'older', max_active: 1 })).to.include({
      name: 'older',
    });
    expect(await store.editKey(old.id, { ...change, max_active: 2 })).to.include({
      expires_ms: null,
    });
    expect(await store.caller(sha256(secret))).to.include({ account_id: id });
  });
});

onEachStore('the allowances of a key', (ground) => {
  const left = async (store: Store, id: string) =>
    ((await store.allowances('key', [id])).get(id) ?? []).map((one) => [
      one.window,
      one.amount_nano,
      one.extra_nano,
    ]);

  it('are set with the key, changed and taken away, each by one row', async () => {
    const { store, other, id } = await begin(ground);
    const terms = {
      limit_nano: dollars(9),
      allowances: { day: dollars(5), '5h': dollars(1) },
    } as const;
    const { key } = await store.createKey(id, 'laptop', terms);
    expect(await left(other, key.id)).to.deep.equal([
      ['5h', dollars(1), 0n],
      ['day', dollars(5), 0n],
    ]);
    expect(await lastChange(store)).to.deep.include({
      after: { name: 'laptop', limit: '9.00', allowances: { day: '5.00', '5h': '1.00' } },
    });
    const amounts = { day: dollars(6), '5h': null, week: dollars(8) };
    await store.editKey(key.id, { name: 'server', allowances: { amounts } }, ANN);
    expect(await left(other, key.id)).to.deep.equal([
      ['day', dollars(6), 0n],
      ['week', dollars(8), 0n],
    ]);
    const row = await lastChange(store);
    expect(row?.before).to.deep.include({ name: 'laptop' });
    expect(row?.before?.allowances).to.deep.equal({ day: '5.00', '5h': '1.00', week: null });
    expect(row?.after?.allowances).to.deep.equal({ day: '6.00', '5h': null, week: '8.00' });
  });

  it('are raised until a time', async () => {
    const { store, other, id } = await begin(ground);
    const { key } = await store.createKey(id, 'laptop', {
      allowances: { day: dollars(5) },
    });
    const until_ms = ground.now_ms + DAY_MS;
    const raise = { window: 'day', by_nano: dollars(10), until_ms } as const;
    await store.editKey(key.id, { allowances: { raise } });
    expect(await left(other, key.id)).to.deep.equal([['day', dollars(5), dollars(10)]]);
    const until = new Date(until_ms).toISOString();
    expect((await lastChange(store))?.after?.raised).to.deep.equal({
      window: 'day',
      by: '10.00',
      until,
    });
    ground.now_ms = until_ms;
    expect(await left(other, key.id)).to.deep.equal([['day', dollars(5), 0n]]);
  });

  it('are never above the limit of the key, whichever is set last', async () => {
    const { store, id } = await begin(ground);
    const day = { allowances: { day: dollars(5) } };
    const beyond = store.createKey(id, 'laptop', { ...day, limit_nano: dollars(4) });
    expect(await refusal(beyond)).to.include('it would never count');
    const { key } = await store.createKey(id, 'laptop', day);
    expect(await refusal(store.editKey(key.id, { limit_nano: dollars(4) }))).to.include(
      'above the 4.00',
    );
    await store.editKey(key.id, { limit_nano: dollars(5) });
    const more = { allowances: { amounts: { day: dollars(6) } } };
    expect(await refusal(store.editKey(key.id, more))).to.include('above the 5.00');
    await store.editKey(key.id, { ...more, limit_nano: null });
    expect(await left(store, key.id)).to.deep.equal([['day', dollars(6), 0n]]);
  });

  it('are refused where two have one length, with nothing changed', async () => {
    const { store, key } = await begin(ground);
    const two = { name: 'server', allowances: { amounts: { day: 1n, '24h': 1n } } };
    expect(await refusal(store.editKey(key.id, two))).to.include('day and 24h');
    expect(await left(store, key.id)).to.deep.equal([]);
    expect(await store.key(key.id)).to.include({ name: 'laptop' });
  });
});

onEachStore('the first limit of a key', (ground) => {
  it('counts what the key has spent, and what its open calls and tasks cost', async () => {
    const { store, other, id, key } = await begin(ground);
    const charged = { key_id: key.id };
    await store.hold('r1', id, dollars(4), key.id);
    await store.charge(chargeOf('r1', id, dollars(3), charged));
    await store.refund({ request_id: 'r1', amount_nano: dollars(1) });
    await store.hold('r2', id, dollars(2), key.id);
    expect(await other.editKey(key.id, { limit_nano: dollars(5) })).to.include({
      spent_nano: dollars(2),
    });
    expect((await store.verify()).faults).to.deep.equal([]);
    await store.charge(chargeOf('r2', id, dollars(2), charged));
    await store.hold('r3', id, dollars(1), key.id);
    expect(await store.hold('r4', id, 1n, key.id)).to.deep.equal({
      admitted: false,
      because: 'limit',
      limit_nano: dollars(5),
      spent_nano: dollars(4),
      held_nano: dollars(1),
    });
    await store.release('r3', id);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('goes on to be counted when it is taken away, and set again', async () => {
    const { store, id, key } = await begin(ground);
    await store.editKey(key.id, { limit_nano: dollars(1) });
    await store.hold('r1', id, dollars(1), key.id);
    expect(await store.editKey(key.id, { limit_nano: null })).to.include({ limit_nano: null });
    await store.hold('r2', id, dollars(9), key.id);
    await store.charge(chargeOf('r1', id, dollars(1), { key_id: key.id }));
    await store.charge(chargeOf('r2', id, dollars(8), { key_id: key.id }));
    expect((await store.verify()).faults).to.deep.equal([]);
    const again = await store.editKey(key.id, { limit_nano: dollars(20) });
    expect(again).to.include({ limit_nano: dollars(20), spent_nano: dollars(9) });
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('misses no charge, hold or task of calls that run meanwhile', async function () {
    this.timeout(120_000);
    const long = process.env.TOLLGATE_TEST_LONG === '1';
    const { store, other, id } = await begin(ground);
    let calls = 0;
    const play = async (limits: readonly (bigint | null)[], lengths: readonly number[]) => {
      const { key } = await store.createKey(id, 'laptop');
      const call = async (length: number): Promise<void> => {
        const request_id = `r${(calls += 1)}`;
        const [first, second] = length % 2 === 0 ? [store, other] : [other, store];
        const { admitted } = await first.hold(request_id, id, 1_000n, key.id);
        if (!admitted) return;
        for (let turn = 0; turn < length; turn += 1) await first.ping();
        if (length === 3) await second.release(request_id, id);
        else await second.charge(chargeOf(request_id, id, BigInt(length), { key_id: key.id }));
      };
      const running = lengths.map(call);
      for (const limit_nano of limits) await other.editKey(key.id, { limit_nano });
      await Promise.all(running);
      expect((await store.verify()).faults).to.deep.equal([]);
    };
    const limits = fc.array(fc.option(fc.constantFrom(3_000n, 10_000n)), {
      minLength: 1,
      maxLength: 4,
    });
    const lengths = fc.array(fc.nat(5), { minLength: 5, maxLength: 20 });
    await fc.assert(fc.asyncProperty(limits, lengths, play), { numRuns: long ? 500 : 15 });
  });
});

onEachStore('a rotated key', (ground) => {
  it('is known by both secrets at every process until the overlap ends', async () => {
    const { store, other, id, key, secret } = await begin(ground);
    const made = await store.rotateKey(key.id, { overlap_ms: DAY_MS }, ANN);
    const previous_until_ms = ground.now_ms + DAY_MS;
    const prefix = made?.secret.slice(0, 10);
    expect(made?.key).to.deep.equal({ ...key, prefix, previous_until_ms });
    expect(await other.key(key.id)).to.deep.equal(made?.key);
    const known = { key_id: key.id, account_id: id, models: undefined };
    expect(await other.caller(sha256(secret))).to.deep.equal(known);
    expect(await other.caller(sha256(made?.secret ?? ''))).to.deep.equal(known);
    ground.now_ms += DAY_MS - 1;
    expect(await other.caller(sha256(secret))).to.deep.equal(known);
    ground.now_ms += 1;
    expect(await other.caller(sha256(secret))).to.equal(undefined);
    expect(await other.caller(sha256(made?.secret ?? ''))).to.deep.equal(known);
    expect(await other.isKey(sha256(secret))).to.equal(true);
    const until = new Date(previous_until_ms).toISOString();
    expect(await lastChange(store)).to.deep.include({
      action: 'key.rotate',
      actor: ANN,
      before: { prefix: key.prefix },
      after: { prefix, previous_until: until },
    });
    const log = JSON.stringify(await store.audit.list({ limit: 10 }));
    expect(log).not.to.include(secret).and.not.to.include(made?.secret);
  });

  it('is refused by both secrets once it is revoked, expired or suspended', async () => {
    const { store, other, id, key, secret } = await begin(ground);
    const secrets = [secret, (await store.rotateKey(key.id, { overlap_ms: DAY_MS }))?.secret ?? ''];
    const callers = () => Promise.all(secrets.map((one) => other.caller(sha256(one))));
    await store.suspend(id);
    for (const caller of await callers()) expect(caller).to.include({ suspended: true });
    await store.resume(id);
    await store.editKey(key.id, { expires_ms: ground.now_ms + 1 });
    ground.now_ms += 1;
    expect(await callers()).to.deep.equal([undefined, undefined]);
    await store.editKey(key.id, { expires_ms: null });
    for (const caller of await callers()) expect(caller).to.include({ key_id: key.id });
    await store.revokeKey(key.id);
    expect(await callers()).to.deep.equal([undefined, undefined]);
    for (const one of secrets) expect(await other.isKey(sha256(one))).to.equal(true);
  });

  it('ends the old secret at once without an overlap, and a yet older one', async () => {
    const { store, key, secret } = await begin(ground);
    const second = (await store.rotateKey(key.id, { overlap_ms: DAY_MS }))?.secret ?? '';
    const third = (await store.rotateKey(key.id, { overlap_ms: 0 }))?.secret ?? '';
    const known = [secret, second, third].map((one) => store.caller(sha256(one)));
    const ids = (await Promise.all(known)).map((caller) => caller?.key_id);
    expect(ids).to.deep.equal([undefined, undefined, key.id]);
  });

  it('is rotated once by a request that is sent twice', async () => {
    const { store, key, secret } = await begin(ground);
    const rotation = { overlap_ms: DAY_MS, prefix: key.prefix };
    const first = await store.rotateKey(key.id, rotation);
    expect(await refusal(store.rotateKey(key.id, rotation))).to.include('was rotated before');
    expect(await store.key(key.id)).to.deep.equal(first?.key);
    expect(await store.caller(sha256(secret))).to.include({ key_id: key.id });
  });

  it('gets no new secret once it has expired, while suspended, or before now', async () => {
    const { store, id, key } = await begin(ground);
    expect(await refusal(store.rotateKey(key.id, { overlap_ms: -1 }))).to.include('below zero');
    await store.suspend(id);
    expect(await refusal(store.rotateKey(key.id, { overlap_ms: 0 }))).to.include(
      'no new secret until',
    );
    await store.resume(id);
    await store.editKey(key.id, { expires_ms: ground.now_ms + 1 });
    ground.now_ms += 1;
    expect(await refusal(store.rotateKey(key.id, { overlap_ms: 0 }))).to.include('has expired');
  });
});

onEachStore('an edit of an account', (ground) => {
  it('sets its rates, which each caller has beside those of its key', async () => {
    const { store, other, id, key, secret } = await begin(ground);
    await store.editKey(key.id, { rates: { requests_per_minute: 5 } });
    const rates = { tokens_per_minute: 1_000, concurrent_requests: 8 };
    expect(await store.editAccount(id, { rates }, ANN)).to.deep.include({ id, rates });
    expect(await other.account(id)).to.deep.include({ rates });
    expect(await other.caller(sha256(secret))).to.deep.include({
      key_rates: { requests_per_minute: 5 },
      account_rates: rates,
    });
    expect(await lastChange(store)).to.deep.include({
      action: 'account.edit',
      subject: id,
      account_id: id,
      actor: ANN,
      before: { rates: null },
      after: { rates },
    });
    await store.editAccount(id, { rates: { tokens_per_minute: null } });
    await store.editAccount(id, {});
    expect(await other.account(id)).to.deep.include({ rates: { concurrent_requests: 8 } });
    expect(await lastChange(store)).to.deep.include({
      before: { rates },
      after: { rates: { concurrent_requests: 8 } },
    });
  });

  it('sets its allowances, beside its rates in one row', async () => {
    const { store, other, id } = await begin(ground);
    const rates = { requests_per_minute: 9 };
    await store.editAccount(id, { rates, allowances: { amounts: { month: dollars(60) } } });
    const found = (await other.allowances('account', [id])).get(id);
    expect(found?.map((one) => [one.window, one.amount_nano])).to.deep.equal([
      ['month', dollars(60)],
    ]);
    expect(await lastChange(store)).to.deep.include({
      before: { rates: null, allowances: { month: null } },
      after: { rates, allowances: { month: '60.00' } },
    });
    const raise = { window: 'day', by_nano: 1n, until_ms: ground.now_ms + 1 } as const;
    expect(await refusal(store.editAccount(id, { allowances: { raise } }))).to.include(
      'it has month',
    );
    await store.editAccount(id, { allowances: { amounts: { month: null } } });
    expect((await other.allowances('account', [id])).get(id)).to.equal(undefined);
  });

  it('refuses an unknown account, and a rate of zero', async () => {
    const { store, id } = await begin(ground);
    expect(await refusal(store.editAccount('acc_x', {}))).to.include('acc_x');
    const zero = { rates: { requests_per_minute: 0 } };
    expect(await refusal(store.editAccount(id, zero))).to.include('above zero');
  });
});
