import { expect } from 'chai';
import { onEachStore, refusal } from '../helpers/ground.js';

const LIMITS = { idle_ms: 3_600_000, lifetime_ms: 10_000_000 };

onEachStore('the store of sessions', (ground) => {
  async function begin() {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const session = { account_id: id, email: 'ann@example.com', via: 'google', operator: false };
    return { store, people: store.sign_in, id, session };
  }

  it('knows a session by its secret, and stores the hash alone', async () => {
    const { people, id, session } = await begin();
    const secret = await people.createSession(session);
    expect(Buffer.from(secret, 'base64url')).to.have.length(32);
    const times = { created_ms: ground.now_ms, seen_ms: ground.now_ms };
    expect(await people.session(secret, LIMITS)).to.deep.equal({
      account_id: id,
      account_name: 'ann',
      email: 'ann@example.com',
      via: 'google',
      operator: false,
      suspended: false,
      ...times,
    });
    expect(await people.session('other', LIMITS)).to.equal(undefined);
    const rows = JSON.stringify(await ground.place.sql('select * from sessions'), (_, value) =>
      typeof value === 'bigint' ? String(value) : (value as unknown),
    );
    expect(rows).not.to.contain(secret);
  });

  it('ends the session that a new one replaces', async () => {
    const { people, session } = await begin();
    const first = await people.createSession(session);
    const next = await people.createSession({ ...session, email: null, operator: true }, first);
    expect(await people.session(first, LIMITS)).to.equal(undefined);
    expect(await people.session(next, LIMITS)).to.include({ email: null, operator: true });
  });

  it('ends one session, or all of an account', async () => {
    const { store, people, session, id } = await begin();
    const ben = await store.createAccount('ben', 0n);
    const [one, two] = [await people.createSession(session), await people.createSession(session)];
    const other = await people.createSession({ ...session, account_id: ben.id });
    await people.endSession(one);
    await people.endSession(one);
    expect(await people.session(one, LIMITS)).to.equal(undefined);
    expect(await people.session(two, LIMITS)).not.to.equal(undefined);
    expect(await people.endSessions(id)).to.equal(1);
    expect(await people.session(two, LIMITS)).to.equal(undefined);
    expect(await people.session(other, LIMITS)).not.to.equal(undefined);
  });

  it('ends a session after its idle time, and after its lifetime', async () => {
    const { people, session } = await begin();
    const began_ms = ground.now_ms;
    const [idle, used] = [await people.createSession(session), await people.createSession(session)];
    ground.now_ms = began_ms + LIMITS.idle_ms - 1;
    expect(await people.session(used, LIMITS)).not.to.equal(undefined);
    ground.now_ms = began_ms + LIMITS.idle_ms;
    expect(await people.session(idle, LIMITS)).to.equal(undefined);
    for (let at = 1; at < 3; at++) {
      ground.now_ms += LIMITS.idle_ms - 2;
      if (ground.now_ms < began_ms + LIMITS.lifetime_ms) {
        expect(await people.session(used, LIMITS), String(at)).not.to.equal(undefined);
      }
    }
    ground.now_ms = began_ms + LIMITS.lifetime_ms;
    expect(await people.session(used, LIMITS)).to.equal(undefined);
  });

  it('notes at most once a minute that a session was seen', async () => {
    const { people, session } = await begin();
    const began_ms = ground.now_ms;
    const secret = await people.createSession(session);
    const seen: (number | undefined)[] = [];
    for (const passed_ms of [60_000, 60_001, 60_002]) {
      ground.now_ms = began_ms + passed_ms;
      seen.push((await people.session(secret, LIMITS))?.seen_ms);
    }
    expect(seen).to.deep.equal([began_ms, began_ms, began_ms + 60_001]);
  });

  it('keeps the hundred of an account that were used last', async () => {
    const { people, session } = await begin();
    const secrets: string[] = [];
    for (let at = 0; at < 101; at++) {
      ground.now_ms += 1;
      secrets.push(await people.createSession(session));
    }
    expect(await people.session(secrets[0] ?? '', LIMITS)).to.equal(undefined);
    expect(await people.session(secrets[1] ?? '', LIMITS)).not.to.equal(undefined);
    expect(await people.endSessions(session.account_id)).to.equal(100);
  });

  it('sweeps sessions once they have ended, and not before', async () => {
    const { people, session } = await begin();
    await people.createSession(session);
    ground.now_ms += LIMITS.idle_ms;
    const kept = await people.createSession(session);
    await people.sweep(LIMITS);
    expect(await ground.place.sql('select via from sessions')).to.have.length(1);
    expect(await people.session(kept, LIMITS)).not.to.equal(undefined);
  });

  it('refuses a session without an account', async () => {
    const { people, session } = await begin();
    const made = people.createSession({ ...session, account_id: 'acc_none' });
    expect(await refusal(made)).to.equal('StoreError: There is no account acc_none.');
  });
});
