import { expect } from 'chai';
import type { Store } from '../../../src/store/store-types.js';
import type {
  SweptTask,
  Task,
  TaskStatus,
  TaskIntent,
  TaskJob,
  TaskPage,
  TaskProgress,
} from '../../../src/store/tasks/task-types.js';
import { dollars, onEachStore, refusal, type Ground } from '../helpers/ground.js';

const START_MS = 1_800_000_000_000;
const HOLD = dollars(3);
const CALL = {
  aspect_ratio: '16:9',
  resolution: '720p',
  duration_seconds: 8,
  generate_audio: true,
  sample_count: 2,
} as const;
const JOB: TaskJob = { count: 2, status: 'IN_QUEUE', state: { id: 'up-1' } };
const PLACES = ['/a', '/b'].map((path, position) => ({
  position,
  place: { request: { method: 'GET', path, credentials: true } as const },
}));

function intentOf(account_id: string, more: Partial<TaskIntent> = {}): TaskIntent {
  return {
    id: 't1',
    account_id,
    key_id: 'key_1',
    model: 'veo',
    provider: 'lab',
    upstream_model: 'veo-3',
    price_nano: 100n,
    upstream_price_nano: 100n,
    fee_nano: 3n,
    upstream_fee_nano: 2n,
    call: CALL,
    hold_nano: HOLD,
    due_ms: START_MS + 60_000,
    ...more,
  };
}

function charged(cost_nano: bigint) {
  return { content_id: 'c', cost_nano, upstream_cost_nano: 2n, usage: '{}' };
}

function progressOf(status: TaskProgress['status'], more: Partial<TaskProgress> = {}) {
  const places = status === 'COMPLETED' ? PLACES : [];
  const due_ms = START_MS + 90_000;
  return { status, error: null, jobs: [{ ...JOB, status }], places, due_ms, ...more };
}

async function taskOf(store: Store, id = 't1'): Promise<Task> {
  const task = await store.tasks.task(id);
  if (!task) throw new Error(`There is no task ${id}.`);
  return task;
}

/** A store with an account of 10 dollars whose task holds three of them. */
async function begun(ground: Ground): Promise<{ store: Store; account_id: string }> {
  const store = await ground.open();
  const { id: account_id } = await store.createAccount('ann', dollars(10));
  await store.hold('t1', account_id, HOLD);
  await store.tasks.begin(intentOf(account_id));
  return { store, account_id };
}

async function accepted(ground: Ground): Promise<{ store: Store; account_id: string }> {
  const begin = await begun(ground);
  expect(await begin.store.tasks.accept('t1', [JOB], START_MS + 60_000)).to.equal(true);
  return begin;
}

async function figures(store: Store, account_id: string): Promise<unknown> {
  const account = await store.account(account_id);
  const { faults, open_holds } = await store.verify();
  const rows = await store.ledger(account_id, { limit: 10 });
  const charges = rows
    .filter(({ kind }) => kind === 'charge')
    .map(({ amount_nano }) => amount_nano);
  return [account?.balance_nano, account?.held_nano, open_holds, charges, faults];
}

onEachStore('video tasks in the store', (ground) => {
  beforeEach(() => {
    ground.now_ms = START_MS;
  });

  it('take over the hold of their request, which outlives its process', async () => {
    const { store, account_id } = await accepted(ground);
    await store.release('t1', account_id);
    await ground.close(store);
    ground.now_ms += 3_600_000;
    const next = await ground.open();
    expect(await next.recover()).to.equal(0);
    expect(await figures(next, account_id)).to.deep.equal([dollars(10), HOLD, 1, [], []]);
  });

  it('do not begin without the hold they name', async () => {
    const { store, account_id } = await begun(ground);
    const other = intentOf(account_id, { id: 't2' });
    expect(await refusal(store.tasks.begin(other))).to.contain('has ended before its task began');
    expect(await store.tasks.task('t2')).to.equal(undefined);
    await store.tasks.begin({ ...other, hold_nano: 0n });
    expect((await taskOf(store, 't2')).status).to.equal('SUBMITTING');
    expect(await figures(store, account_id)).to.deep.equal([dollars(10), HOLD, 1, [], []]);
  });

  it('remember everything, and the upstream that was asked last', async () => {
    const { store, account_id } = await begun(ground);
    const prices = { price_nano: 70n, upstream_price_nano: 60n };
    const fees = { fee_nano: 7n, upstream_fee_nano: 6n };
    const target = { provider: 'spare', upstream_model: 'veo-fast', ...prices, ...fees };
    await store.tasks.retarget('t1', target);
    ground.now_ms += 5;
    await store.tasks.accept('t1', [JOB], 7);
    expect(await taskOf(store)).to.deep.include({
      ...intentOf(account_id, { ...target, due_ms: 7 }),
      jobs: [JOB],
      status: 'IN_QUEUE',
      error: null,
      content_id: null,
      charge_nano: null,
      videos: 0,
      version: 1,
      polled_ms: 0,
      created_ms: ground.now_ms - 5,
      updated_ms: ground.now_ms,
    });
    expect(await store.tasks.accept('t1', [], 8)).to.equal(false);
  });

  it('are asked about though the clock was set back by an hour', async () => {
    const { store } = await accepted(ground);
    expect(await store.tasks.claim('t1', 2_000)).to.equal(true);
    expect(await store.tasks.claim('t1', 2_000)).to.equal(false);
    ground.now_ms -= 3_600_000;
    expect(await store.tasks.claim('t1', 2_000)).to.equal(true);
    expect(await store.tasks.claim('t1', 2_000)).to.equal(false);
  });

  it('give the hold back once when they fail', async () => {
    const { store, account_id } = await begun(ground);
    expect(await store.tasks.fail('t1', 'no', 9)).to.equal(true);
    expect(await store.tasks.fail('t1', 'again', 10)).to.equal(false);
    expect(await taskOf(store)).to.deep.include({ status: 'FAILED', error: 'no', hold_nano: 0n });
    expect(await figures(store, account_id)).to.deep.equal([dollars(10), 0n, 0, [], []]);
    expect(await store.tasks.accept('t1', [JOB], 7)).to.equal(false);
  });

  it('let one of many processes poll the upstream in each interval', async () => {
    const { store } = await accepted(ground);
    const other = await ground.open();
    const claims = async (): Promise<number> => {
      const stores = Array.from({ length: 20 }, (_, i) => (i % 2 ? store : other));
      const won = await Promise.all(stores.map(({ tasks }) => tasks.claim('t1', 2_000)));
      return won.filter(Boolean).length;
    };
    expect(await claims()).to.equal(1);
    ground.now_ms += 1_999;
    expect(await claims()).to.equal(0);
    ground.now_ms += 1;
    expect(await claims()).to.equal(1);
  });

  it('never overwrite a newer status by an older one', async () => {
    const { store } = await accepted(ground);
    const old = await taskOf(store);
    expect(await store.tasks.advance(old, progressOf('COMPLETED'))).to.equal(true);
    expect(await store.tasks.advance(old, progressOf('FAILED', { error: 'x' }))).to.equal(false);
    const now = await taskOf(store);
    expect(now).to.deep.include({ status: 'COMPLETED', videos: 2, hold_nano: HOLD });
    expect(await store.tasks.advance(now, progressOf('IN_PROGRESS'))).to.equal(false);
    expect(await store.tasks.place('t1', 1)).to.deep.equal(PLACES[1]?.place);
    expect(await store.tasks.place('t1', 2)).to.equal(undefined);
  });

  it('give the hold back when a poll learns that they failed', async () => {
    const { store, account_id } = await accepted(ground);
    await store.tasks.advance(await taskOf(store), progressOf('FAILED', { error: 'unsafe' }));
    expect(await taskOf(store)).to.deep.include({ status: 'FAILED', error: 'unsafe' });
    expect(await figures(store, account_id)).to.deep.equal([dollars(10), 0n, 0, [], []]);
  });

  it('are charged once, however many charge them, in however many processes', async () => {
    const { store, account_id } = await accepted(ground);
    const other = await ground.open();
    await store.tasks.advance(await taskOf(store), progressOf('COMPLETED'));
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        (i % 2 ? store : other).tasks.charge('t1', {
          content_id: `c${i}`,
          cost_nano: dollars(1) + BigInt(i % 2),
          upstream_cost_nano: dollars(1),
          usage: '{"video_seconds":8}',
          agent: 'curl',
        }),
      ),
    );
    expect(new Set(outcomes.map((task) => task?.content_id)).size).to.equal(1);
    const cost_nano = outcomes[0]?.charge_nano ?? 0n;
    const rest = dollars(10) - cost_nano;
    expect(await figures(store, account_id)).to.deep.equal([rest, 0n, 0, [-cost_nano], []]);
    const found = await store.tasks.taskByContent(outcomes[0]?.content_id ?? '');
    expect(found).to.deep.include({ id: 't1', hold_nano: 0n, charge_nano: cost_nano });
    const charge = (await store.ledger(account_id, { limit: 9 })).find(
      ({ kind }) => kind === 'charge',
    );
    expect(charge?.agent).to.equal('curl');
  });

  it('are not charged before they are completed', async () => {
    const { store } = await accepted(ground);
    const settling = store.tasks.charge('t1', charged(1n));
    expect(await refusal(settling)).to.contain('is not completed');
  });

  it('leave no row in the ledger where they are free', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    await store.tasks.begin(intentOf(id, { hold_nano: 0n }));
    await store.tasks.accept('t1', [JOB], START_MS + 60_000);
    await store.tasks.advance(await taskOf(store), progressOf('COMPLETED'));
    await store.tasks.charge('t1', charged(0n));
    expect(await figures(store, id)).to.deep.equal([0n, 0n, 0, [], []]);
  });

  const sweeps: { state: TaskStatus; after_ms: number; did?: SweptTask['did'] }[] = [
    { state: 'IN_QUEUE', after_ms: 60_000, did: 'failed' },
    { state: 'IN_QUEUE', after_ms: 59_999 },
    { state: 'SUBMITTING', after_ms: 60_000, did: 'failed' },
    { state: 'COMPLETED', after_ms: 90_000, did: 'removed' },
    { state: 'COMPLETED', after_ms: 89_999 },
    { state: 'FAILED', after_ms: 90_000, did: 'removed' },
  ];
  for (const { state, after_ms, did } of sweeps) {
    it(`are ${did ?? 'kept'} after ${after_ms} ms as ${state}`, async () => {
      const { store, account_id } = await (state === 'SUBMITTING' ? begun : accepted)(ground);
      if (state === 'COMPLETED' || state === 'FAILED') {
        await store.tasks.advance(await taskOf(store), progressOf(state));
      }
      ground.now_ms += after_ms;
      const swept = await store.tasks.sweep(5_000);
      expect(swept.map((one) => one.did)).to.deep.equal(did ? [did] : []);
      const held = did || state === 'FAILED' ? 0n : HOLD;
      const open = held === 0n ? 0 : 1;
      expect(await figures(store, account_id)).to.deep.equal([dollars(10), held, open, [], []]);
      const task = await store.tasks.task('t1');
      const left = did === 'removed' ? undefined : state;
      expect(task?.status).to.equal(did === 'failed' ? 'FAILED' : left);
      if (did === 'failed') expect(task?.due_ms).to.equal(ground.now_ms + 5_000);
      expect(await store.tasks.sweep(5_000)).to.deep.equal([]);
    });
  }

  it('block no other request when many expire at once', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    for (let at = 0; at < 30; at += 1) {
      await store.tasks.begin(intentOf(id, { id: `t${at}`, hold_nano: 0n }));
    }
    ground.now_ms += 60_000;
    let turns = 0;
    let next = setImmediate(function again() {
      turns += 1;
      next = setImmediate(again);
    });
    expect(await store.tasks.sweep(5_000)).to.have.length(30);
    clearImmediate(next);
    expect(turns).to.be.at.least(30);
  });

  it('keep their charge when they are removed', async () => {
    const { store, account_id } = await accepted(ground);
    await store.tasks.advance(await taskOf(store), progressOf('COMPLETED'));
    await store.tasks.charge('t1', charged(5n));
    ground.now_ms += 90_000;
    expect(await store.tasks.sweep(1)).to.have.length(1);
    expect(await figures(store, account_id)).to.deep.equal([dollars(10) - 5n, 0n, 0, [-5n], []]);
  });

  it('fail only if their process died while it submitted them', async () => {
    const { store, account_id } = await begun(ground);
    const other = await ground.open();
    await other.recover();
    expect(await other.tasks.sweep(5_000)).to.deep.equal([]);
    await ground.close(store);
    await other.recover();
    const swept = await other.tasks.sweep(5_000);
    expect(swept.map(({ task, did }) => [task.id, task.provider, did])).to.deep.equal([
      ['t1', 'lab', 'failed'],
    ]);
    expect((await taskOf(other)).error).to.contain('The gateway stopped while submitting');
    expect(await figures(other, account_id)).to.deep.equal([dollars(10), 0n, 0, [], []]);
  });

  it('are listed newest first, of one account or of all', async () => {
    const { store, account_id } = await begun(ground);
    const { id: bob } = await store.createAccount('bob', 0n);
    ground.now_ms += 1;
    await store.tasks.begin(intentOf(bob, { id: 't2', hold_nano: 0n }));
    const ids = async (filter: { account_id?: string; limit: number }) =>
      (await store.tasks.list(filter)).map(({ id }) => id);
    expect(await ids({ limit: 10 })).to.deep.equal(['t2', 't1']);
    expect(await ids({ limit: 1 })).to.deep.equal(['t2']);
    expect(await ids({ account_id, limit: 10 })).to.deep.equal(['t1']);
  });

  it('are listed page by page and by state, also those that were made at once', async () => {
    const { store, account_id } = await begun(ground);
    for (const id of ['t2', 't3', 't4']) {
      await store.tasks.begin(intentOf(account_id, { id, hold_nano: 0n }));
    }
    await store.tasks.fail('t3', 'no', ground.now_ms + 1_000);
    const seen: string[] = [];
    let before: { created_ms: number; id: string } | undefined;
    for (;;) {
      const [task] = await store.tasks.list(before ? { before, limit: 1 } : { limit: 1 });
      if (!task) break;
      seen.push(task.id);
      before = task;
    }
    expect(seen).to.deep.equal(['t4', 't3', 't2', 't1']);
    const failed = await store.tasks.list({ status: 'FAILED', limit: 10 });
    expect(failed.map(({ id }) => id)).to.deep.equal(['t3']);
  });

  it('are shown page by page in the order of their IDs, of one account and some models', async () => {
    const { store, account_id } = await begun(ground);
    const { id: bob } = await store.createAccount('bob', 0n);
    for (const [id, owner, model] of [
      ['t2', account_id, 'sora'],
      ['t3', bob, 'veo'],
      ['t4', account_id, 'veo'],
    ] as const) {
      await store.tasks.begin(intentOf(owner, { id, model, hold_nano: 0n }));
    }
    const ids = async (page: Partial<TaskPage>) => {
      const found = await store.tasks.page({ account_id, order: 'desc', limit: 9, ...page });
      return found.map(({ id }) => id);
    };
    expect(await ids({})).to.deep.equal(['t4', 't2', 't1']);
    expect(await ids({ order: 'asc', limit: 2 })).to.deep.equal(['t1', 't2']);
    expect(await ids({ after: 't4' })).to.deep.equal(['t2', 't1']);
    expect(await ids({ order: 'asc', after: 't3' })).to.deep.equal(['t4']);
    expect(await ids({ models: ['veo'] })).to.deep.equal(['t4', 't1']);
    expect(await ids({ models: [] })).to.deep.equal([]);
  });

  it('are removed once they have ended and hold nothing', async () => {
    const { store, account_id } = await accepted(ground);
    expect(await store.tasks.remove('t1'), 'running').to.equal(false);
    await store.tasks.advance(await taskOf(store), progressOf('COMPLETED'));
    expect(await store.tasks.remove('t1'), 'not paid for').to.equal(false);
    await store.tasks.charge('t1', charged(5n));
    expect(await store.tasks.remove('t1')).to.equal(true);
    expect(await store.tasks.remove('t1'), 'gone').to.equal(false);
    expect(await store.tasks.place('t1', 0)).to.equal(undefined);
    expect(await figures(store, account_id)).to.deep.equal([dollars(10) - 5n, 0n, 0, [-5n], []]);
  });

  const lies = [
    { what: 'a charge that went missing', sql: "delete from ledger where kind = 'charge'" },
    { what: 'a task that forgot its charge', sql: 'update tasks set charge_nano = null' },
    { what: 'a hold of a task that went missing', sql: 'update tasks set hold_nano = 7' },
  ];
  for (const { what, sql } of lies) {
    it(`show ${what} to verify`, async () => {
      const { store } = await accepted(ground);
      await store.tasks.advance(await taskOf(store), progressOf('COMPLETED'));
      await store.tasks.charge('t1', charged(5n));
      expect((await store.verify()).faults).to.deep.equal([]);
      await ground.place.sql(sql);
      expect((await store.verify()).faults.join('\n')).to.contain('Task t1');
    });
  }
});
