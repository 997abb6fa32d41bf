import { expect } from 'chai';
import type { EndedCall } from '../../../src/store/idempotency/idempotency-types.js';
import type { TaskIntent } from '../../../src/store/tasks/task-types.js';
import type { Store } from '../../../src/store/store-types.js';
import { fuse, unfuse } from '../helpers/fuse.js';
import { chargeOf, dollars, ENDED, onEachStore, type Ground } from '../helpers/ground.js';

interface Act {
  /** On an account, with a key of it that has a limit. */
  run: (store: Store, id: string, key_id: string) => Promise<unknown>;
  /** What there is to see of it, the same before and after a run that failed. */
  trace: string;
}

function intentOf(account_id: string, key_id: string): TaskIntent {
  const call = { resolution: '720p', duration_seconds: 8, generate_audio: true } as const;
  return {
    id: 'k1',
    account_id,
    key_id,
    model: 'veo',
    provider: 'lab',
    upstream_model: 'veo',
    price_nano: 1n,
    upstream_price_nano: 1n,
    fee_nano: 0n,
    upstream_fee_nano: 0n,
    call: { ...call, aspect_ratio: '16:9', sample_count: 1 },
    hold_nano: 10n,
    due_ms: 2_000_000_000_000,
  };
}

function answeredOf(account_id: string, request_id: string): EndedCall {
  const due_ms = 2_000_000_000_000;
  const answer = { status: 200, text: `"${request_id}"` };
  return { account_id, request_id, key_sha256: request_id, request_sha256: 'a', due_ms, answer };
}

const ANSWERS = 'select answer from idempotency_keys where answer is not null';

const ACTS: Record<string, Act> = {
  hold: {
    run: (store, id) => store.hold('r9', id, 5n),
    trace: `select request_id from holds where request_id = 'r9'`,
  },
  charge: {
    run: (store, id) => store.charge(chargeOf('r1', id, 3n)),
    trace: `select reference from ledger where kind = 'charge' and reference <> 'k0'`,
  },
  release: {
    run: (store, id) => store.release('r1', id),
    trace: `select request_id from holds where request_id = 'r1'`,
  },
  credit: {
    run: (store, id) => store.credit(id, 5n, 'invoice'),
    trace: `select reference from ledger where reference = 'invoice'`,
  },
  'the opening of an account': {
    run: (store) => store.createAccount('ben', 5n),
    trace: `select name from accounts where name = 'ben'`,
  },
  'the making of a key': {
    run: (store, id) => store.createKey(id, 'phone'),
    trace: `select name from keys where name = 'phone'`,
  },
  'a hold of a key with a limit': {
    run: (store, id, key_id) => store.hold('r9', id, 5n, key_id),
    trace: `select request_id, held_nano from holds, keys where request_id = 'r9'`,
  },
  'the charge of a key with a limit': {
    run: (store, id, key_id) => store.charge(chargeOf('k1', id, 3n, { key_id })),
    trace: `select reference from ledger where kind = 'charge' and reference <> 'k0'`,
  },
  'the release of a key with a limit': {
    run: (store, id) => store.release('k1', id),
    trace: `select request_id from holds where request_id = 'k1'`,
  },
  'the begin of a task under a limit': {
    run: (store, id, key_id) => store.tasks.begin(intentOf(id, key_id)),
    trace: `select id from tasks where id = 'k1'`,
  },
  'the end of a task under a limit': {
    run: (store) => store.tasks.fail('k2', 'no', 0),
    trace: `select error from tasks where id = 'k2'`,
  },
  'a sign-in': {
    run: (store) =>
      store.sign_in.signIn({ provider: 'google', subject: '1', email: 'cleo@example.com' }, 5n),
    trace: `select name from accounts where name like 'cleo%'`,
  },
  'the begin of a call': {
    run: (store, id) => store.idempotency.begin(answeredOf(id, 'r9')),
    trace: `select key_sha256 from idempotency_keys where key_sha256 = 'r9'`,
  },
  'a charge and its answer': {
    run: (store, id) => store.charge(chargeOf('r1', id, 3n), answeredOf(id, 'r1')),
    trace: `select reference from ledger where kind = 'charge' and reference <> 'k0' union all ${ANSWERS}`,
  },
  'a charge and its answer under a limit': {
    run: (store, id, key_id) =>
      store.charge(chargeOf('k1', id, 3n, { key_id }), answeredOf(id, 'k1')),
    trace: `select reference from ledger where kind = 'charge' and reference <> 'k0' union all ${ANSWERS}`,
  },
  'an answer without a charge': {
    run: (store, id) => store.idempotency.answer(answeredOf(id, 'r1')),
    trace: ANSWERS,
  },
  'the acceptance of a task and its answer': {
    run: (store, id) => store.tasks.accept('k2', [], 1, answeredOf(id, 'k2')),
    trace: `select status from tasks where id = 'k2' union all ${ANSWERS}`,
  },
  'the end of a task and what it was answered': {
    run: (store, id) => store.tasks.fail('k2', 'no', 0, answeredOf(id, 'r1')),
    trace: `select error from tasks where id = 'k2'
      union all select key_sha256 from idempotency_keys`,
  },
  'the recovery of a call': {
    run: (store) => store.recover(),
    trace: `select request_id from idempotency_keys where process_id = 'ghost'
      union all select request_id from holds where process_id = 'ghost'`,
  },
  'the revocation of a key': {
    run: (store, _id, key_id) => store.revokeKey(key_id),
    trace: `select id from keys where revoked_ms is not null
      union all select subject from audit where action = 'key.revoke'`,
  },
  'a refund under a limit': {
    run: (store, id) => store.refund({ request_id: 'k0', account_id: id, amount_nano: 2n }),
    trace: `select reference from ledger where kind = 'refund'
      union all select subject from audit where action = 'account.refund'`,
  },
  'a suspension': {
    run: (store, id) => store.suspend(id),
    trace: `select id from accounts where suspended_ms is not null
      union all select subject from audit where action = 'account.suspend'`,
  },
  'the making of a token': {
    run: (store) => store.tokens.create({ name: 'shop', scopes: ['credit:write'] }),
    trace: `select id from management_tokens
      union all select subject from audit where action = 'token.create'`,
  },
  'the cancelling of a task': {
    run: (store) =>
      store.tasks.cancel('k2', 'no', 0, { kind: 'key', id: 'k', name: null, request_id: null }),
    trace: `select error from tasks where id = 'k2'
      union all select subject from audit where action = 'task.cancel'`,
  },
  'a sign-in link': {
    run: (store, id) => store.sign_in.createLink(id, { operator: false, lifetime_ms: 1_000 }),
    trace: `select account_id from sign_in_links
      union all select subject from audit where action = 'sign_in_link.create'`,
  },
  recovery: {
    run: (store) => store.recover(),
    trace: `select request_id from holds where process_id = 'ghost'`,
  },
};

onEachStore('a fault at the nth write', (ground) => {
  for (const [name, { run, trace }] of Object.entries(ACTS)) {
    it(`leaves nothing half-done of ${name}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', dollars(1));
      await store.editAccount(id, { allowances: { amounts: { day: 1_000n, '5h': 1_000n } } });
      await store.hold('r1', id, 10n);
      const terms = { limit_nano: 100n, allowances: { month: 90n } } as const;
      const { key } = await store.createKey(id, 'pocket', terms);
      await store.charge(chargeOf('k0', id, 5n, { key_id: key.id }));
      await store.hold('k1', id, 10n, key.id);
      await store.hold('k2', id, 10n, key.id);
      await store.tasks.begin({ ...intentOf(id, key.id), id: 'k2' });
      await store.idempotency.begin(answeredOf(id, 'r1'));
      await ground.place.sql(
        `insert into processes (id, place, pid, started_ms, seen_ms)
         values ('ghost', ${ENDED}, 0, 0);
         insert into holds (request_id, account_id, process_id, amount_nano, created_ms)
           values ('g1', '${id}', 'ghost', 3, 0), ('g2', '${id}', 'ghost', 4, 0);
         insert into idempotency_keys
           (account_id, key_sha256, request_sha256, request_id, process_id, due_ms)
           values ('${id}', 'g1', 'a', 'g1', 'ghost', 0);
         update accounts set held_nano = held_nano + 7;
         update keys set held_nano = held_nano + 4;
         update holds set key_id = '${key.id}' where request_id = 'g2'`,
      );
      const before = await ground.place.sql(trace);
      let nth = 1;
      for (; ; nth++) {
        await fuse(ground, nth);
        const outcome = await run(store, id, key.id).then(() => 'done', String);
        await unfuse(ground);
        expect((await store.verify()).faults, `write ${nth}`).to.deep.equal([]);
        if (outcome === 'done') break;
        expect(outcome).to.contain('blown fuse');
        expect(await ground.place.sql(trace), `write ${nth}`).to.deep.equal(before);
      }
      expect(nth).to.be.greaterThan(1);
      expect(await ground.place.sql(trace)).not.to.deep.equal(before);
    });
  }

  it('fails one request among many at once, and no other', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    await store.hold('r7', id, 1n);
    const ids = Array.from({ length: 12 }, (_, at) => `r${at}`);
    const results = await Promise.allSettled(ids.map((one) => store.hold(one, id, 10n)));
    const failed = ids.filter((_, at) => results[at]?.status === 'rejected');
    expect(failed).to.deep.equal(['r7']);
    expect(await store.verify()).to.deep.include({ open_holds: 12, faults: [] });
  });
});

onEachStore('a fault at the nth write of many at once', (ground) => {
  const ids = Array.from({ length: 5 }, (_, at) => `r${at}`);
  const acts: Record<string, (store: Store, id: string) => Promise<unknown>[]> = {
    holds: (store, id) => ids.map((one) => store.hold(one, id, 10n)),
    charges: (store, id) =>
      ids.map((one) => store.charge(chargeOf(one, id, 3n, { hold_nano: 10n }))),
  };
  for (const [name, run] of Object.entries(acts)) {
    it(`leaves ${name} whole or undone, each as it was answered`, async () => {
      const store = await ground.open();
      let failures = 0;
      for (let nth = 1; ; nth++) {
        const { id } = await store.createAccount(`ann${nth}`, dollars(1));
        if (name === 'charges') for (const one of ids) await store.hold(one, id, 10n);
        await fuse(ground, nth);
        const results = await Promise.allSettled(run(store, id));
        await unfuse(ground);
        const done = ids.filter((_, at) => results[at]?.status === 'fulfilled').length;
        failures += ids.length - done;
        const [holds, charges] = name === 'holds' ? [done, 0] : [ids.length - done, done];
        expect(await store.account(id), `write ${nth}`).to.deep.include({
          balance_nano: dollars(1) - 3n * BigInt(charges),
          held_nano: 10n * BigInt(holds),
        });
        const { faults, open_holds } = await store.verify();
        expect(faults, `write ${nth}`).to.deep.equal([]);
        expect(open_holds, `write ${nth}`).to.equal(holds);
        await Promise.all(ids.map((one) => store.release(one, id)));
        if (done === ids.length && nth > 4 * ids.length) break;
      }
      expect(failures).to.be.greaterThan(ids.length);
    });
  }
});

onEachStore('a fault at the commit', (ground) => {
  it('charges nothing, and rejects', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    await store.hold('r1', id, 10n);
    await ground.place.sql(
      store.dialect === 'sqlite'
        ? `create table nowhere (id integer primary key);
           create table debts (id integer references nowhere deferrable initially deferred);
           create trigger fuse after insert on ledger begin insert into debts values (1); end`
        : `create function blow() returns trigger as
             $$ begin raise exception 'blown fuse'; end $$ language plpgsql;
           create constraint trigger fuse after insert on ledger
             deferrable initially deferred for each row execute function blow()`,
    );
    const results = await Promise.allSettled([
      store.charge(chargeOf('r1', id, 3n)),
      store.charge(chargeOf('r2', id, 4n)),
    ]);
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    await ground.place.sql(
      store.dialect === 'sqlite' ? 'drop trigger fuse' : 'drop function blow cascade',
    );
    expect(await store.account(id)).to.deep.include({ balance_nano: dollars(1), held_nano: 10n });
    expect(await store.verify()).to.deep.include({ entries: 1, open_holds: 1, faults: [] });
    expect(await store.charge(chargeOf('r1', id, 3n))).to.deep.equal({ uncollected_nano: 0n });
  });
});

onEachStore('another connection that writes', (ground) => {
  it('only delays the calls of the store', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const other = await ground.open();
    await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        await store.hold(`r${at}`, id, 5n);
        await other.credit(id, 1n, `c${at}`);
        await other.charge(chargeOf(`r${at}`, id, 2n));
        await store.createKey(id, `k${at}`);
      }),
    );
    expect(await store.account(id)).to.deep.include({
      balance_nano: dollars(1) - 30n,
      held_nano: 0n,
    });
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});

const lostConnections = (ground: Ground): void => {
  it('cost no charge', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    await Promise.all(['r1', 'r2', 'r3'].map((one) => store.hold(one, id, 10n)));
    const others = `from pg_stat_activity where pid <> pg_backend_pid()
      and application_name = current_setting('application_name')`;
    const settling = ['r1', 'r2', 'r3'].map((one) => store.charge(chargeOf(one, id, 3n)));
    const ended = await ground.place.sql(`select pg_terminate_backend(pid) ${others}`);
    await Promise.all(settling);
    expect(ended).not.to.deep.equal([]);
    expect(await store.account(id)).to.deep.include({
      balance_nano: dollars(1) - 9n,
      held_nano: 0n,
    });
    expect(await store.verify()).to.deep.include({ entries: 4, open_holds: 0, faults: [] });
  });
};

onEachStore('lost connections', lostConnections, ['PostgreSQL']);
