import { expect } from 'chai';
import type { Actor } from '../../../src/core/actor.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, refusal } from '../helpers/ground.js';

const BY: Actor = { kind: 'token', id: 'mgt_1', name: 'shop', request_id: 'req_1' };

onEachStore('the audit log', (ground) => {
  /** Each kind of change once, and the repeats that change nothing. */
  async function changeAll(store: Store): Promise<string> {
    const { id } = await store.createAccount('ann', dollars(1), BY);
    await store.credit(id, dollars(2), 'invoice', BY);
    await store.credit(id, dollars(2), 'invoice', BY);
    const { key } = await store.createKey(id, 'laptop', { models: ['m'], limit_nano: 7n }, BY);
    await store.charge(chargeOf('r1', id, 5n, { key_id: key.id }));
    await store.refund({ request_id: 'r1', amount_nano: 2n, reference: 'oops' }, BY);
    await store.refund({ request_id: 'r1', amount_nano: 2n, reference: 'oops' }, BY);
    await store.revokeKey(key.id, id, BY);
    await store.revokeKey(key.id, id, BY);
    await store.suspend(id, BY);
    await store.suspend(id, BY);
    await store.resume(id, BY);
    await store.sign_in.createLink(id, { operator: true, lifetime_ms: 1_000, by: BY });
    const { token } = await store.tokens.create({ name: 'shop', scopes: ['audit:read'] }, BY);
    await store.tokens.revoke(token.id, BY);
    await store.tokens.revoke(token.id, BY);
    return id;
  }

  it('has one row for each change, and none for a repeat', async () => {
    const store = await ground.open();
    const id = await changeAll(store);
    const log = (await store.audit.list({ limit: 99 })).toReversed();
    const until = new Date(ground.now_ms + 1_000).toISOString();
    expect(log.map(({ action, before, after }) => [action, before, after])).to.deep.equal([
      ['account.create', null, { name: 'ann', balance: '1.00' }],
      ['account.credit', { balance: '1.00' }, { balance: '3.00', reference: 'invoice' }],
      ['key.create', null, { name: 'laptop', models: ['m'], limit: '0.000000007' }],
      ['account.refund', { charged: '0.000000005' }, { charged: '0.000000003', reference: 'oops' }],
      ['key.revoke', { name: 'laptop' }, { revoked: true }],
      ['account.suspend', { suspended: false }, { suspended: true }],
      ['account.resume', { suspended: true }, { suspended: false }],
      ['sign_in_link.create', null, { operator: true, expires: until }],
      ['token.create', null, { name: 'shop', scopes: ['audit:read'] }],
      ['token.revoke', { name: 'shop' }, { revoked: true }],
    ]);
    for (const { actor, time_ms } of log) {
      expect([actor, time_ms]).to.deep.equal([BY, ground.now_ms]);
    }
    const own = await store.audit.list({ account_id: id, limit: 99 });
    expect(own).to.deep.equal(log.toReversed().slice(2));
  });

  it('is read page by page, and from a time on', async () => {
    const store = await ground.open();
    for (const name of ['a', 'b', 'c']) {
      await store.createAccount(name, 0n);
      ground.now_ms += 1_000;
    }
    const [newest] = await store.audit.list({ limit: 1 });
    expect(newest?.after).to.deep.include({ name: 'c' });
    expect(newest?.actor).to.deep.equal({
      kind: 'gateway',
      id: null,
      name: null,
      request_id: null,
    });
    const older = await store.audit.list({ before: newest?.id ?? 0, limit: 9 });
    expect(older.map(({ after }) => after?.name)).to.deep.equal(['b', 'a']);
    const since_ms = ground.now_ms - 2_000;
    expect(await store.audit.list({ since_ms, limit: 9 })).to.have.length(2);
  });

  it('tells of a changed configuration once, however many processes tell it', async () => {
    const stores = [await ground.open(), await ground.open()] as const;
    const tell = (...changes: string[]): Promise<void[]> =>
      Promise.all([...stores, ...stores].map((store) => store.audit.reloaded(changes)));
    await tell('model a is new');
    await tell('model a is gone');
    await tell('model a is new');
    ground.now_ms += 60_001;
    await tell('model a is new');
    const log = await stores[0].audit.list({ limit: 9 });
    expect(log.map(({ action, after }) => [action, after])).to.deep.equal(
      ['new', 'new', 'gone', 'new'].map((word) => [
        'configuration.reload',
        { changes: [`model a is ${word}`] },
      ]),
    );
    expect(log[0]).to.deep.include({ subject: 'gateway.yaml', account_id: null, before: null });
  });

  it('cannot be changed in the database', async () => {
    const store = await ground.open();
    await store.createAccount('ann', 0n);
    for (const change of [`update audit set actor = 'x'`, 'delete from audit']) {
      expect(await refusal(ground.place.sql(change))).to.contain('The audit log is never changed.');
    }
    expect(await store.audit.list({ limit: 9 })).to.have.length(1);
  });
});
