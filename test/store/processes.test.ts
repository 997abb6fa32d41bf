import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { chargeOf, onEachStore } from './helpers/ground.js';

onEachStore('recovery', (ground) => {
  /** Where this process lives, as a store writes it down. */
  async function here(): Promise<string> {
    const rows = await ground.place.sql('select place from processes');
    return String(rows[0]?.['place']);
  }

  /** Writes down another process that holds 3 and 4 nano-dollars of the account. */
  async function haunt(id: string, place: string, pid: number, seen_ms: number): Promise<void> {
    await ground.place.sql(
      `insert into processes (id, place, pid, started_ms, seen_ms)
         values ('ghost', '${place}', ${pid}, 0, ${seen_ms});
       insert into holds (request_id, account_id, process_id, amount_nano, created_ms)
         values ('g1', '${id}', 'ghost', 3, 0), ('g2', '${id}', 'ghost', 4, 0);
       update accounts set held_nano = held_nano + 7`,
    );
  }

  const dead = spawnSync(process.execPath, ['--version']).pid;
  const cases: [string, string | undefined, number, number, boolean][] = [
    ['lives here and was seen lately', undefined, process.ppid, 60_000, false],
    ['lives elsewhere and was seen lately', 'elsewhere', dead, 60_000, false],
    ['was not seen for a minute, elsewhere', 'elsewhere', 1, 60_001, true],
    [
      'was not seen for a minute, though its number is in use',
      undefined,
      process.ppid,
      60_001,
      true,
    ],
    ['has ended', undefined, dead, 0, true],
    ['had our own number before us', undefined, process.pid, 0, true],
  ];
  for (const [what, place, pid, age_ms, gone] of cases) {
    it(`${gone ? 'ends' : 'keeps'} the holds of a process that ${what}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', 100n);
      await store.hold('r1', id, 20n);
      await haunt(id, place ?? (await here()), pid, ground.now_ms - age_ms);
      expect(await store.recover()).to.equal(gone ? 2 : 0);
      expect((await store.account(id))?.held_nano).to.equal(gone ? 20n : 27n);
      const rows = await ground.place.sql(`select id from processes where id = 'ghost'`);
      expect(rows).to.have.length(gone ? 0 : 1);
      expect((await store.verify()).faults).to.deep.equal([]);
    });
  }

  it('lets the other stores of this very process be', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const { id } = await store.createAccount('ann', 100n);
    await other.hold('r1', id, 20n);
    ground.now_ms += 100_000;
    expect(await store.recover()).to.equal(0);
    expect((await store.verify()).open_holds).to.equal(1);
  });

  it('spreads what is freed over the accounts it was held of', async () => {
    const store = await ground.open();
    const ann = await store.createAccount('ann', 100n);
    const ben = await store.createAccount('ben', 100n);
    const other = await ground.open();
    await other.hold('r1', ann.id, 1n);
    await other.hold('r2', ben.id, 2n);
    await other.hold('r3', ann.id, 4n);
    await store.hold('r4', ann.id, 8n);
    await ground.close(other);
    expect(await store.recover()).to.equal(3);
    expect((await store.account('ann'))?.held_nano).to.equal(8n);
    expect((await store.account('ben'))?.held_nano).to.equal(0n);
    expect(await store.recover()).to.equal(0);
  });

  it('ends each hold once where several recover at once', async () => {
    const stores = [await ground.open(), await ground.open(), await ground.open()];
    const { id } = (await stores[0]?.createAccount('ann', 100n)) ?? { id: '' };
    await haunt(id, 'elsewhere', 1, 0);
    const released = await Promise.all(stores.map((store) => store.recover()));
    expect(released).to.have.members([0, 0, 2]);
    expect((await stores[0]?.verify())?.faults).to.deep.equal([]);
  });

  it('keeps the holds of a process that shows itself just in time', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await haunt(id, 'elsewhere', 1, 0);
    const commit = await ground.place.lock(`update processes set seen_ms = ${ground.now_ms}`);
    const recovering = store.recover();
    // Long enough for it to read the old sign of life and to come up against the lock.
    await sleep(100);
    await commit();
    expect(await recovering).to.equal(0);
    expect(await store.verify()).to.deep.include({ open_holds: 2, faults: [] });
  });

  it('counts no hold that another one ends at the same time', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await haunt(id, 'elsewhere', 1, 0);
    const commit = await ground.place.lock(
      `delete from holds where request_id = 'g1'; update accounts set held_nano = held_nano - 3`,
    );
    const recovering = store.recover();
    await sleep(100);
    await commit();
    expect(await recovering).to.equal(1);
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
  });

  it('charges a request whose hold it ended', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await haunt(id, 'elsewhere', 1, 0);
    await store.recover();
    expect(await store.settle(chargeOf('g1', id, 3n))).to.deep.equal({ uncollected_nano: 0n });
    expect(await store.account(id)).to.deep.include({ balance_nano: 97n, held_nano: 0n });
  });

  it('lets a process that was taken to be gone hold again', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await store.beat();
    await ground.place.sql('delete from processes');
    expect(await store.hold('r1', id, 5n)).to.deep.equal({ admitted: true });
    expect(await ground.place.sql('select id from processes')).to.have.length(1);
  });

  it('writes down when a process was last seen', async () => {
    const store = await ground.open();
    await store.beat();
    ground.now_ms += 10_000;
    await store.beat();
    const rows = await ground.place.sql('select started_ms, seen_ms, pid from processes');
    expect(rows.map((row) => Object.values(row).map(Number))).to.deep.equal([
      [ground.now_ms - 10_000, ground.now_ms, process.pid],
    ]);
  });

  it('hands on what each living process has told last', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    expect(await store.notes()).to.deep.equal([]);
    await store.beat('{"a":1}');
    await other.beat('{"b":1}');
    await store.beat('{"a":2}');
    await store.beat();
    expect((await other.notes()).toSorted()).to.deep.equal(['{"a":2}', '{"b":1}']);
    ground.now_ms += 60_001;
    await other.beat();
    expect(await store.notes()).to.deep.equal(['{"b":1}']);
    await ground.close(other);
    expect(await store.notes()).to.deep.equal([]);
  });

  it('takes itself off the list when it closes, unless it still holds', async () => {
    const store = await ground.open();
    const other = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await store.beat();
    await other.hold('r1', id, 5n);
    await ground.close(store);
    await ground.close(other);
    expect(await ground.place.sql('select id from processes')).to.have.length(1);
    expect(await ground.place.sql('select request_id from holds')).to.have.length(1);
  });
});
