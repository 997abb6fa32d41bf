import { expect } from 'chai';
import { chargeOf, dollars, onEachStore, refusal } from '../helpers/ground.js';
import { sha256 } from '../../../src/store/keys/secret.js';

onEachStore('the suspension of an account', (ground) => {
  for (const terms of [{}, { limit_nano: dollars(5) }]) {
    const what = 'limit_nano' in terms ? 'with' : 'without';
    it(`admits nobody once it has resolved, ${what} a limit`, async () => {
      const [store, other] = [await ground.open(), await ground.open()];
      const { id } = await store.createAccount('ann', dollars(10));
      const { key } = await store.createKey(id, 'pocket', terms);
      const holdsNow = async (): Promise<unknown> =>
        (await ground.place.sql('select count(*) as rows from holds'))[0]?.rows;
      const holding = Array.from({ length: 300 }, async (_, at) => {
        const { admitted } = await (at % 2 ? store : other).hold(`r${at}`, id, 1n, key.id);
        return admitted;
      });
      await other.suspend(id);
      const then = await holdsNow();
      const admitted = (await Promise.all(holding)).filter(Boolean).length;
      expect(await holdsNow()).to.equal(then);
      expect(Number(then)).to.equal(admitted);
      expect((await store.verify()).faults).to.deep.equal([]);
    });

    it(`refuses a key ${what} a limit at once in every process, and resumes it`, async () => {
      const [store, other] = [await ground.open(), await ground.open()];
      const { id } = await store.createAccount('ann', dollars(10));
      const { key, secret } = await store.createKey(id, 'pocket', terms);
      const caller = { key_id: key.id, account_id: id, models: undefined };
      expect(await other.caller(sha256(secret))).to.deep.equal(caller);
      expect(await other.hold('r1', id, 5n, key.id)).to.deep.equal({ admitted: true });
      expect(await store.suspend(id)).to.equal(true);
      expect(await store.suspend(id)).to.equal(false);
      const refused = { admitted: false, because: 'suspended' };
      for (const one of [store, other]) {
        expect(await one.caller(sha256(secret))).to.deep.equal({ ...caller, suspended: true });
        expect(await one.hold('r2', id, 5n, key.id)).to.deep.equal(refused);
        expect(await one.admit(key.id)).to.deep.equal(refused);
        const many = await Promise.all(['a', 'b', 'c'].map((r) => one.hold(r, id, 1n, key.id)));
        expect(many).to.deep.equal([refused, refused, refused]);
      }
      // The answer that ran already is charged.
      const charge = chargeOf('r1', id, 3n, { key_id: key.id, hold_nano: 5n });
      expect(await other.charge(charge)).to.deep.equal({ uncollected_nano: 0n });
      expect(await store.resume(id)).to.equal(true);
      expect(await store.resume(id)).to.equal(false);
      expect(await other.caller(sha256(secret))).to.deep.equal(caller);
      expect(await other.hold('r3', id, 5n, key.id)).to.deep.equal({ admitted: true });
      expect(await store.verify()).to.deep.include({ open_holds: 1, faults: [] });
    });
  }

  it('blames a key that has ended for its own end', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(10));
    const { key } = await store.createKey(id, 'old');
    await store.revokeKey(key.id);
    await store.suspend(id);
    const ended = { admitted: false, because: 'ended' };
    expect(await store.hold('r1', id, 5n, key.id)).to.deep.equal(ended);
    expect(await store.admit(key.id)).to.deep.equal(ended);
  });

  it('leaves credit as it is, makes no key, and shows in account and session', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    await store.suspend(id);
    expect((await store.account(id))?.suspended_ms).to.equal(ground.now_ms);
    await store.credit(id, 5n, 'invoice');
    expect(await refusal(store.createKey(id, 'phone'))).to.match(/^AccountSuspended: /u);
    const session = { account_id: id, email: null, via: 'link', operator: false };
    const secret = await store.sign_in.createSession(session);
    const limits = { idle_ms: 1_000, lifetime_ms: 1_000 };
    expect((await store.sign_in.session(secret, limits))?.suspended).to.equal(true);
    await store.resume(id);
    expect((await store.account(id))?.suspended_ms).to.equal(null);
    await store.createKey(id, 'phone');
    expect(await refusal(store.suspend('acc_none'))).to.equal(
      'StoreError: There is no account acc_none.',
    );
  });
});
