import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { POSTGRES_CLOCK_MS, SQLITE_CLOCK_MS } from '../../../src/store/database.js';
import { MACHINE, startOf } from '../../../src/store/leases/liveness.js';
import { boxReport } from '../../helpers/box-report.js';
import { until } from '../../helpers/until.js';
import { chargeOf, ENDED, onEachStore } from '../helpers/ground.js';

onEachStore("the recovery of a dead process's holds", (ground) => {
  /** By the clock of the database. */
  const clock_ms = (): string =>
    ground.place.dialect === 'sqlite' ? SQLITE_CLOCK_MS : POSTGRES_CLOCK_MS;

  /** Writes down another process that holds 3 and 4 nano-dollars of the account. */
  async function haunt(id: string, place: string, pid: number, age_ms: number): Promise<void> {
    await ground.place.sql(
      `insert into processes (id, place, pid, started_ms, seen_ms)
         values ('ghost', '${place}', ${pid}, 0, ${clock_ms()} - ${age_ms});
       insert into holds (request_id, account_id, process_id, amount_nano, created_ms)
         values ('g1', '${id}', 'ghost', 3, 0), ('g2', '${id}', 'ghost', 4, 0);
       update accounts set held_nano = held_nano + 7`,
    );
  }

  const dead = spawnSync(process.execPath, ['--version']).pid;
  const parent = `${MACHINE} ${startOf(process.ppid)}`;
  const HOUR_MS = 3_600_000;
  const cases: [string, string, number, number, boolean][] = [
    ['lives here and was seen lately', parent, process.ppid, 0, false],
    ['lives here and has been paused for an hour', parent, process.ppid, HOUR_MS, false],
    ['has ended, and another one has its number', `${MACHINE} 1`, process.ppid, 0, true],
    ['lives elsewhere and was seen lately', 'elsewhere', dead, 0, false],
    ['lives elsewhere, where the clock is an hour ahead', 'elsewhere', dead, -HOUR_MS, false],
    ['was not seen for a minute, elsewhere', 'elsewhere', 1, 60_001, true],
    ['has ended', MACHINE, dead, 0, true],
    ['had our own number before us', `${MACHINE} 1`, process.pid, 0, true],
  ];
  for (const [what, place, pid, age_ms, gone] of cases) {
    it(`${gone ? 'ends' : 'keeps'} the holds of a process that ${what}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', 100n);
      await store.hold('r1', id, 20n);
      await haunt(id, place, pid, age_ms);
      await ground.lapse(store);
      await store.recover();
      expect((await store.account(id))?.held_nano).to.equal(gone ? 20n : 27n);
      const rows = await ground.place.sql(`select id from processes where id = 'ghost'`);
      expect(rows).to.have.length(gone ? 0 : 1);
      expect((await store.verify()).faults).to.deep.equal([]);
    });
  }

  it('ends the holds of a process that has ended and whose parent never asks for it', async function () {
    if (process.platform !== 'linux') this.skip();
    // `exec` leaves the shell's child to a program that asks for none.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
    try {
      const [line] = (await once(parent.stdout.setEncoding('utf8'), 'data')) as [string];
      const pid = Number(line);
      const place = `${MACHINE} ${startOf(pid)}`;
      const store = await ground.open();
      const { id } = await store.createAccount('ann', 100n);
      await haunt(id, place, pid, 0);
      process.kill(pid, 'SIGKILL');
      await until(async () => (await store.recover()) > 0, 'its holds end');
      expect((await store.account(id))?.held_nano).to.equal(0n);
      expect(process.kill(pid, 0), 'it has its number still').to.equal(true);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('keeps the holds of a live process, though the clock here is 70 s ahead', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    // Its last sign of life is two seconds old, by the clock that is the same for both.
    await haunt(id, 'elsewhere', 1, 2_000);
    ground.now_ms += 70_000;
    await store.heartbeat();
    expect(await store.recover()).to.equal(0);
    expect(await store.verify()).to.deep.include({ open_holds: 2, faults: [] });
  });

  it('takes no process for dead right after a start, an outage or a pause', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await haunt(id, 'elsewhere', 1, 120_000);
    expect(await store.recover(), 'a start').to.equal(0);
    ground.elapsed_ms += 90_000;
    // For so long nobody could give a sign of life, so that all of them look old.
    expect(await store.recover(), 'an outage').to.equal(0);
    ground.elapsed_ms += 20_000;
    await ground.place.sql(`update processes set seen_ms = seen_ms + 1 where id = 'ghost'`);
    for (let look = 0; look < 3; look += 1) {
      expect(await store.recover(), 'it was back late').to.equal(0);
      ground.elapsed_ms += 20_000;
    }
    await ground.lapse(store);
    expect(await store.verify(), 'it never came back').to.deep.include({ open_holds: 0 });
  });

  it('keeps the holds of other stores in the same process', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const { id } = await store.createAccount('ann', 100n);
    await other.hold('r1', id, 20n);
    ground.now_ms += 100_000;
    expect(await store.recover()).to.equal(0);
    expect((await store.verify()).open_holds).to.equal(1);
  });

  it('returns the amounts to the accounts that they were held from', async () => {
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
    await haunt(id, 'elsewhere', 1, 120_000);
    await ground.lapse(...stores);
    const released = await Promise.all(stores.map((store) => store.recover()));
    expect(released).to.have.members([0, 0, 2]);
    expect((await stores[0]?.verify())?.faults).to.deep.equal([]);
  });

  it('keeps the holds of a process whose heartbeat comes just in time', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await haunt(id, 'elsewhere', 1, 120_000);
    await ground.lapse(store);
    const commit = await ground.place.lock('update processes set seen_ms = seen_ms + 1');
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
    await haunt(id, 'elsewhere', 1, 120_000);
    await ground.lapse(store);
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
    await haunt(id, 'elsewhere', 1, 120_000);
    await ground.lapse(store);
    await store.recover();
    expect(await store.charge(chargeOf('g1', id, 3n))).to.deep.equal({ uncollected_nano: 0n });
    expect(await store.account(id)).to.deep.include({ balance_nano: 97n, held_nano: 0n });
  });

  it('lets a process hold again that was taken for dead', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await store.heartbeat();
    await ground.place.sql('delete from processes');
    expect(await store.hold('r1', id, 5n)).to.deep.equal({ admitted: true });
    expect(await ground.place.sql('select id from processes')).to.have.length(1);
  });

  it('writes down when a process was last seen', async () => {
    const store = await ground.open();
    await store.heartbeat();
    const seen = async () => {
      const [row] = await ground.place.sql('select seen_ms, started_ms, pid from processes');
      return [row?.seen_ms, row?.started_ms, row?.pid].map(Number);
    };
    const [first_ms = 0, ...rest] = await seen();
    expect(rest).to.deep.equal([ground.now_ms, process.pid]);
    // The clock of this process does not matter.
    ground.now_ms += 3_600_000;
    await sleep(5);
    await store.heartbeat();
    const [second_ms = 0] = await seen();
    expect(second_ms - first_ms).to.be.within(1, 60_000);
  });

  it('returns the last note of each living process', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    expect(await store.notes()).to.deep.equal([]);
    await store.heartbeat('{"a":1}');
    await other.heartbeat('{"b":1}');
    await store.heartbeat('{"a":2}');
    await store.heartbeat();
    expect((await other.notes()).toSorted()).to.deep.equal(['{"a":2}', '{"b":1}']);
    await ground.place.sql('update processes set seen_ms = seen_ms - 60001');
    await other.heartbeat();
    expect(await store.notes()).to.deep.equal(['{"b":1}']);
    await ground.close(other);
    expect(await store.notes()).to.deep.equal([]);
  });

  it('lists the living processes with what they say of their boxes', async () => {
    const [store, other] = [await ground.open(), await ground.open()];
    const report = boxReport();
    await store.heartbeat(undefined, JSON.stringify({ ...report, later: [1] }));
    await store.heartbeat('{}');
    await store.ping();
    await other.heartbeat();
    const all = await store.processes();
    const first = all.find(({ box }) => box !== null);
    expect(first).to.deep.include({ machine: MACHINE, pid: process.pid });
    expect(first?.box, 'later versions say more').to.deep.equal({ ...report, later: [1] });
    expect(first?.started_ms).to.equal(ground.now_ms);
    expect((first?.now_ms ?? 0) - (first?.seen_ms ?? 0)).to.be.within(0, 60_000);
    expect(all.map(({ box }) => box)).to.deep.include(null);
    await other.heartbeat(undefined, '{"host":1}');
    const boxes = (await store.processes()).map(({ box }) => box);
    expect(boxes, 'in another form').to.deep.include('unknown');
    await ground.place.sql(
      `insert into processes (id, place, pid, started_ms, seen_ms)
         values ('ended', ${ENDED}, 0, ${clock_ms()}), ('far', 'elsewhere', 1, 0, ${clock_ms()});
       update processes set seen_ms = seen_ms - 60001 where box like '%web2%'`,
    );
    expect((await store.processes()).map(({ machine }) => machine)).to.have.members([
      MACHINE,
      'elsewhere',
    ]);
  });

  it('removes its lease when it closes, unless it still has holds', async () => {
    const store = await ground.open();
    const other = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    await store.heartbeat();
    await other.hold('r1', id, 5n);
    await ground.close(store);
    await ground.close(other);
    expect(await ground.place.sql('select id from processes')).to.have.length(1);
    expect(await ground.place.sql('select request_id from holds')).to.have.length(1);
  });

  it('frees a hold and a key whose end died with the primary, while their box lives', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 100n);
    const call = { account_id: id, key_sha256: 'k', request_sha256: 'a', due_ms: 2 ** 42 };
    await store.heartbeat();
    expect(await store.idempotency.begin({ ...call, request_id: 'r1' })).to.deep.equal({
      is: 'new',
    });
    for (const request_id of ['r1', 'r2', 'r3']) await store.hold(request_id, id, 5n);
    await ground.place.sql(`update holds set created_ms = 0 where request_id <> 'r3'`);
    expect(await store.recover()).to.equal(0);
    expect(await store.releaseForgotten(() => new Set(['r1', 'r2']))).to.equal(0);
    expect(await store.releaseForgotten(() => new Set(['r2']))).to.equal(2);
    expect((await store.account(id))?.held_nano).to.equal(10n);
    expect(await store.idempotency.begin({ ...call, request_id: 'r4' })).to.deep.equal({
      is: 'new',
    });
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});
