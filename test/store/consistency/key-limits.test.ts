import { expect } from 'chai';
import type { TaskIntent, TaskJob } from '../../../src/store/tasks/task-types.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, refusal, type Ground } from '../helpers/ground.js';
import type { Key, KeyTerms } from '../../../src/store/keys/keys.js';

const LIMIT = dollars(5);

interface Bench {
  store: Store;
  other: Store;
  id: string;
  key: Key;
  /** Spent and held by the key, held by the account; nothing may be at fault. */
  figures: () => Promise<(bigint | undefined)[]>;
}

const JOB: TaskJob = { count: 1, status: 'IN_QUEUE', state: {} };
const ENDED = { error: null, jobs: [JOB], places: [], due_ms: 2_000_000_000_000 };

function intentOf(account_id: string, key_id: string, due_ms: number): TaskIntent {
  const call = { resolution: '720p', duration_seconds: 8, generate_audio: true } as const;
  return {
    id: 't1',
    account_id,
    key_id,
    model: 'veo',
    provider: 'lab',
    upstream_model: 'veo-3',
    price_nano: 1n,
    upstream_price_nano: 1n,
    fee_nano: 0n,
    upstream_fee_nano: 0n,
    call: { ...call, aspect_ratio: '16:9', sample_count: 1 },
    hold_nano: dollars(3),
    due_ms,
  };
}

/** Two processes, an account of ten dollars, and a key of it with those terms. */
async function begin(ground: Ground, terms: KeyTerms = { limit_nano: LIMIT }): Promise<Bench> {
  const [store, other] = [await ground.open(), await ground.open()];
  const { id } = await store.createAccount('ann', dollars(10));
  const { key } = await store.createKey(id, 'pocket', terms);
  const figures = async (): Promise<(bigint | undefined)[]> => {
    expect((await store.verify()).faults).to.deep.equal([]);
    const found = (await store.keys(id)).find((one) => one.id === key.id);
    const [row] = await ground.place.sql(`select held_nano from keys where id = '${key.id}'`);
    const held_nano = BigInt(String(row?.held_nano));
    return [found?.spent_nano, held_nano, (await store.account(id))?.held_nano];
  };
  return { store, other, id, key, figures };
}

onEachStore('a key with a limit', (ground) => {
  it('holds within its limit, and reports the figures beyond it', async () => {
    const { store, id, key, figures } = await begin(ground);
    expect(await store.hold('r1', id, dollars(3), key.id)).to.deep.equal({ admitted: true });
    expect(await store.hold('r2', id, dollars(2) + 1n, key.id)).to.deep.equal({
      admitted: false,
      because: 'limit',
      limit_nano: LIMIT,
      spent_nano: 0n,
      held_nano: dollars(3),
    });
    expect(await store.hold('r2', id, dollars(2), key.id)).to.deep.equal({ admitted: true });
    expect(await figures()).to.deep.equal([0n, LIMIT, LIMIT]);
    expect(await store.hold('r3', id, dollars(5))).to.deep.equal({ admitted: true });
  });

  it('holds nothing where the account cannot', async () => {
    const { store, id, key, figures } = await begin(ground);
    await store.hold('r1', id, dollars(8));
    const refused = await store.hold('r2', id, dollars(3), key.id);
    expect(refused).to.deep.include({ admitted: false, because: 'balance' });
    expect(await figures()).to.deep.equal([0n, 0n, dollars(8)]);
    expect(await store.hold('r3', id, 2n ** 80n, key.id)).to.deep.include({ because: 'limit' });
  });

  it('spends the charge, and frees the rest of the hold', async () => {
    const { store, other, id, key, figures } = await begin(ground);
    const charged = { key_id: key.id };
    await store.hold('r1', id, dollars(4), key.id);
    expect(await other.charge(chargeOf('r1', id, dollars(1), charged))).to.deep.equal({
      uncollected_nano: 0n,
    });
    expect(await figures()).to.deep.equal([dollars(1), 0n, 0n]);
    expect(await store.charge(chargeOf('r1', id, dollars(1), charged))).to.equal(false);
    await store.hold('r2', id, dollars(4), key.id);
    await store.release('r2', id);
    await store.release('r2', id);
    expect(await figures()).to.deep.equal([dollars(1), 0n, 0n]);
    expect(await store.hold('r3', id, dollars(4) + 1n, key.id)).to.deep.include({
      spent_nano: dollars(1),
      held_nano: 0n,
    });
  });

  it('is charged without a hold too, as far as its limit bears', async () => {
    const { store, id, key, figures } = await begin(ground);
    expect(await store.charge(chargeOf('r1', id, dollars(6), { key_id: key.id }))).to.deep.equal({
      uncollected_nano: dollars(1),
    });
    expect(await figures()).to.deep.equal([LIMIT, 0n, 0n]);
    expect(await store.hold('r2', id, 1n, key.id)).to.deep.include({ because: 'limit' });
    await store.hold('r1', id, 0n);
    expect(await store.charge(chargeOf('r1', id, 1n, { key_id: key.id }))).to.equal(false);
    expect(await figures()).to.deep.equal([LIMIT, 0n, 0n]);
  });

  it('gets back the holds of a dead process', async () => {
    const { store, other, id, key, figures } = await begin(ground);
    await other.hold('r1', id, dollars(1), key.id);
    await other.hold('r2', id, dollars(2), key.id);
    await other.hold('r3', id, dollars(3));
    await ground.close(other);
    expect(await figures()).to.deep.equal([0n, dollars(3), dollars(6)]);
    expect(await store.recover()).to.equal(3);
    expect(await figures()).to.deep.equal([0n, 0n, 0n]);
  });

  const ends: [string, (store: Store) => Promise<unknown>, bigint][] = [
    ['fails', ({ tasks }) => tasks.fail('t1', 'no', 0), 0n],
    [
      'fails upstream',
      async ({ tasks }) => {
        await tasks.accept('t1', [JOB], 0);
        const task = await tasks.task('t1');
        if (task) await tasks.advance(task, { ...ENDED, status: 'FAILED' });
      },
      0n,
    ],
    [
      'is charged',
      async ({ tasks }) => {
        await tasks.accept('t1', [JOB], 0);
        const task = await tasks.task('t1');
        if (task) await tasks.advance(task, { ...ENDED, status: 'COMPLETED' });
        const usage = '{"video_seconds":8}';
        const bill = { content_id: 'c1', cost_nano: dollars(1), upstream_cost_nano: 1n, usage };
        await Promise.all([1, 2, 3].map(() => tasks.charge('t1', bill)));
      },
      dollars(1),
    ],
    ['is given up', ({ tasks }) => tasks.sweep(1), 0n],
  ];
  for (const [what, end, spent_nano] of ends) {
    it(`holds for a task until it ${what}`, async () => {
      const { store, other, id, key, figures } = await begin(ground);
      await store.hold('t1', id, dollars(3), key.id);
      await store.tasks.begin(intentOf(id, key.id, ground.now_ms + 1));
      expect(await figures()).to.deep.equal([0n, dollars(3), dollars(3)]);
      await store.release('t1', id);
      expect(await other.hold('r1', id, dollars(3), key.id)).to.deep.include({ because: 'limit' });
      ground.now_ms += 1;
      await end(store);
      expect(await figures()).to.deep.equal([spent_nano, 0n, 0n]);
    });
  }

  it('counts a task whose hold is older than the limit', async () => {
    const { store, id, key, figures } = await begin(ground, {});
    await store.hold('t1', id, dollars(3), key.id);
    await store.editKey(key.id, { limit_nano: LIMIT });
    expect(await figures()).to.deep.equal([0n, 0n, dollars(3)]);
    await store.tasks.begin(intentOf(id, key.id, ground.now_ms));
    expect(await figures()).to.deep.equal([0n, dollars(3), dollars(3)]);
    await store.tasks.fail('t1', 'no', 0);
    expect(await figures()).to.deep.equal([0n, 0n, 0n]);
  });

  it('counts a task that is older than the limit', async () => {
    const { store, id, key, figures } = await begin(ground, {});
    await store.hold('t1', id, dollars(3), key.id);
    await store.tasks.begin(intentOf(id, key.id, ground.now_ms));
    await store.editKey(key.id, { limit_nano: LIMIT });
    expect(await figures()).to.deep.equal([0n, dollars(3), dollars(3)]);
  });

  it('begins no task with a hold of another amount', async () => {
    const { store, id, key, figures } = await begin(ground);
    await store.hold('t1', id, dollars(2), key.id);
    const begun = store.tasks.begin(intentOf(id, key.id, ground.now_ms));
    expect(await refusal(begun)).to.contain('has ended before its task began');
    expect(await figures()).to.deep.equal([0n, dollars(2), dollars(2)]);
  });

  it('admits exactly as many of 200 at once, in two processes, as it pays for', async () => {
    const { store, other, id, key, figures } = await begin(ground, { limit_nano: 379n });
    const ids = Array.from({ length: 200 }, (_, at) => `r${at}`);
    const results = await Promise.all(
      ids.map((one, at) => (at % 2 ? store : other).hold(one, id, 10n, key.id)),
    );
    const admitted = ids.filter((_, at) => results[at]?.admitted);
    expect(admitted).to.have.length(37);
    expect(await figures()).to.deep.equal([0n, 370n, 370n]);
    await Promise.all(
      admitted.map((one, at) =>
        (at % 2 ? other : store).charge(chargeOf(one, id, 7n, { key_id: key.id })),
      ),
    );
    expect(await figures()).to.deep.equal([37n * 7n, 0n, 0n]);
  });

  it('adds up while keys with and without a limit hold and charge at once', async () => {
    const { store, other, id, key, figures } = await begin(ground, { limit_nano: dollars(2) });
    const { key: free } = await store.createKey(id, 'free');
    const walk = async (at: number): Promise<void> => {
      const [one, two] = at % 2 ? [store, other] : [other, store];
      const key_id = at % 3 ? key.id : free.id;
      await one.hold(`r${at}`, id, 10n, key_id);
      if (at % 5) await two.charge(chargeOf(`r${at}`, id, 3n, { key_id }));
      else await two.release(`r${at}`, id);
      if (at % 40 === 0) await one.recover();
    };
    await Promise.all(Array.from({ length: 240 }, (_, at) => walk(at)));
    expect(await figures()).to.deep.equal([128n * 3n, 0n, 0n]);
  });
});

onEachStore('a key that has ended', (ground) => {
  for (const terms of [{}, { limit_nano: LIMIT }]) {
    const what = 'limit_nano' in terms ? 'with' : 'without';
    it(`holds nothing once it is revoked, ${what} a limit`, async () => {
      const { store, other, id, key, figures } = await begin(ground, terms);
      await other.hold('r1', id, 1n, key.id);
      expect(await store.admit(key.id)).to.deep.equal({ admitted: true });
      await store.revokeKey(key.id);
      for (const one of [store, other]) {
        const refused = await one.hold('r2', id, 1n, key.id);
        expect(refused).to.deep.equal({ admitted: false, because: 'ended' });
        expect(await one.admit(key.id)).to.deep.equal(refused);
      }
      await other.charge(chargeOf('r1', id, 1n, { key_id: key.id }));
      expect((await figures()).slice(1)).to.deep.equal([0n, 0n]);
      expect((await store.account(id))?.balance_nano).to.equal(dollars(10) - 1n);
    });

    it(`holds nothing from the moment that it expires, ${what} a limit`, async () => {
      const expires_ms = ground.now_ms + 1_000;
      const { store, id, key } = await begin(ground, { ...terms, expires_ms });
      ground.now_ms = expires_ms - 1;
      expect(await store.hold('r1', id, 1n, key.id)).to.deep.equal({ admitted: true });
      ground.now_ms = expires_ms;
      const refused = await store.hold('r2', id, 1n, key.id);
      expect(refused).to.deep.equal({ admitted: false, because: 'ended' });
      expect(await store.admit(key.id)).to.deep.equal(refused);
    });

    it(`is admitted by nobody once its revocation has resolved, ${what} a limit`, async () => {
      const { store, other, id, key } = await begin(ground, terms);
      const holdsNow = async (): Promise<unknown> =>
        (await ground.place.sql('select count(*) as rows from holds'))[0]?.rows;
      const holding = Array.from({ length: 400 }, async (_, at) => {
        const { admitted } = await (at % 2 ? store : other).hold(`r${at}`, id, 1n, key.id);
        return admitted;
      });
      await other.revokeKey(key.id);
      const then = await holdsNow();
      const refused = await store.hold('late', id, 1n, key.id);
      expect(refused.admitted).to.equal(false);
      const admitted = (await Promise.all(holding)).filter(Boolean).length;
      expect(await holdsNow()).to.equal(then);
      expect(Number(then)).to.equal(admitted);
    });
  }

  it('is no obstacle where the store does not know it', async () => {
    const { store, id } = await begin(ground);
    expect(await store.hold('r1', id, 1n, 'key_of_a_plugin')).to.deep.equal({ admitted: true });
    expect(await store.admit('key_of_a_plugin')).to.deep.equal({ admitted: true });
  });
});
