import { expect } from 'chai';
import fc from 'fast-check';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.js';
import { FLAGS, type RequestRecord } from '../../../src/core/request-record.js';
import type { Store } from '../../../src/store/store-types.js';
import { GroupCommit } from '../../../src/store/sqlite/group-commit.js';
import { SqliteRecords } from '../../../src/store/sqlite/sqlite-records.js';
import { SqliteRequests } from '../../../src/store/sqlite/sqlite-requests.js';
import { onEachStore, refusal, type Ground } from '../helpers/ground.js';
import { recordAt } from '../requests/helpers.js';

const HOUR_MS = 3_600_000;

onEachStore('sums of records that a process makes itself', testSums, ['SQLite']);

function testSums(ground: Ground): void {
  const nullable = (most: number) => fc.option(fc.nat(most));
  const figures = fc.record({
    at_ms: fc.nat(3 * 24 * HOUR_MS),
    account_id: fc.constantFrom('acc_1', 'acc_2'),
    key_id: fc.constantFrom('key_1', 'key_2'),
    model: fc.constantFrom('cheap', 'a "quoted" name', null),
    provider: fc.constantFrom('openai', 'lab', null),
    status: fc.constantFrom(200, 499, 502),
    fails: fc.boolean(),
    prompt_tokens: nullable(10 ** 9),
    completion_tokens: nullable(1_000),
    cached_tokens: nullable(1_000),
    reasoning_tokens: nullable(1_000),
    first_token_ms: fc.option(fc.double({ min: 0, max: 10 ** 7, noNaN: true })),
    took_ms: fc.oneof(fc.nat(4_096), fc.double({ min: 0, max: 10 ** 7, noNaN: true })),
    // One record counts for a million dollars at most.
    cost_nano: fc.bigInt(0n, 2n * 10n ** 15n),
    uncollected_nano: fc.constantFrom(0n, 1n, 2n ** 60n),
    agent: fc.constantFrom('codex', 'curl', null),
    saved_nano: fc.bigInt(-2n * 10n ** 15n, 2n * 10n ** 15n),
    lost_nano: fc.constantFrom(0n, 1n),
    flags: fc.nat(Object.values(FLAGS).reduce((all, flag) => all + flag, 0)),
  });
  const recordOf = ({
    at_ms,
    fails,
    ...rest
  }: typeof figures extends fc.Arbitrary<infer T> ? T : never) =>
    recordAt(ground.now_ms + at_ms, { ...rest, code: fails ? 'upstream_error' : null });

  /** All totals and latencies, in the order of their keys. */
  async function totals(): Promise<object[][]> {
    const { place } = ground;
    return [
      await place.sql('select * from request_totals order by 1, 2, 3, 4, 5, 6, 7, 8'),
      await place.sql('select * from request_latencies order by 1, 2, 3, 4, 5, 6, 7'),
      await place.sql('select * from request_accounts order by 1, 2'),
    ];
  }

  async function calls(): Promise<unknown> {
    const [row] = await ground.place.sql(
      `select sum(calls) as calls from request_totals where period = 'hour' and account_id = ''`,
    );
    return row?.calls;
  }

  async function rollUp(store: Store): Promise<void> {
    while (await store.requests.rollUp()) continue;
  }

  /** The totals as another process makes them, which reads all records. */
  async function totalsAnew(): Promise<object[][]> {
    await ground.place.sql(`delete from request_totals; delete from request_latencies;
      delete from request_accounts; update request_roll_up set upto = 0`);
    const other = await ground.open();
    await rollUp(other);
    await ground.close(other);
    return totals();
  }

  /** Totals differ in the last digits of a time, as its parts are added in another order. */
  function rounded(rows: object[][]): unknown {
    return rows.map((some) =>
      some.map((row) =>
        Object.entries(row).map(([name, value]) =>
          name.endsWith('_ms') ? Number(value).toPrecision(12) : value,
        ),
      ),
    );
  }

  it('are what the database makes of the records', async () => {
    await fc.assert(
      fc
        .asyncProperty(
          fc.array(fc.array(figures, { minLength: 1, maxLength: 40 })),
          async (all) => {
            const store = await ground.open();
            for (const some of all) await store.requests.add(some.map(recordOf));
            await rollUp(store);
            const own = rounded(await totals());
            expect(own).to.deep.equal(rounded(await totalsAnew()));
            await ground.close(store);
          },
        )
        .afterEach(async () => {
          await ground.end();
          await ground.begin();
        }),
      { numRuns: 25 },
    );
  });

  const some = (count: number, rest: Partial<RequestRecord> = {}): RequestRecord[] =>
    Array.from({ length: count }, () => recordAt(ground.now_ms, rest));

  it('count each record once while two processes write and add to the totals', async () => {
    const stores = [await ground.open(), await ground.open()];
    const turns = fc.sample(fc.tuple(fc.nat(1), fc.nat(60), fc.boolean()), {
      numRuns: 120,
      seed: 7,
    });
    let count = 0;
    for (const [at, length, adds] of turns) {
      await stores[at]?.requests.add(some(length, { took_ms: length }));
      count += length;
      if (adds) await stores[1 - at]?.requests.rollUp();
      if (length % 3 === 0) await stores[at]?.requests.rollUp();
    }
    for (const store of stores) await rollUp(store);
    const own = rounded(await totals());
    expect(own).to.deep.equal(rounded(await totalsAnew()));
    expect(await calls()).to.equal(count);
  });

  it('do not count records that were undone, in whose place another process writes', async () => {
    const other = await ground.open();
    const database = openSqliteFile(ground.place.url.slice('sqlite:'.length));
    const group = new GroupCommit(database, () => {});
    const records = new SqliteRecords(database, group);
    const requests = new SqliteRequests(database, group, records);
    const undone = group.add(() => {
      records.addBeside(some(5));
      throw new Error('undone');
    });
    expect(await refusal(undone)).to.include('undone');
    await other.requests.add(some(5, { took_ms: 7_000 }));
    await requests.add(some(5));
    while (await requests.rollUp()) continue;
    const own = rounded(await totals());
    expect(own).to.deep.equal(rounded(await totalsAnew()));
    await group.idle();
    database.close();
  });

  it('do not count a record that is there already', async () => {
    const store = await ground.open();
    const records = some(20);
    await store.requests.add(records);
    await store.requests.add([...some(3), ...records.slice(7, 8)]);
    await store.requests.add(some(4));
    await rollUp(store);
    const own = rounded(await totals());
    expect(own).to.deep.equal(rounded(await totalsAnew()));
    expect(await calls()).to.equal(20 + 3 + 4);
  });

  it('are kept while totals cannot be written, and many of them are read instead', async () => {
    const store = await ground.open();
    await ground.place.sql(`create trigger refuse before insert on request_accounts
      begin select raise(abort, 'refused'); end`);
    for (let at = 0; at < 60; at += 1) {
      await store.requests.add(some(1_000));
      if (at % 20 === 0) {
        const failure = await store.requests.rollUp().catch((error: unknown) => String(error));
        expect(failure).to.include('refused');
      }
    }
    await ground.place.sql('drop trigger refuse');
    await store.requests.add(some(10));
    await rollUp(store);
    expect(await calls()).to.equal(60_010);
  });
}
