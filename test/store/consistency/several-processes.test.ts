import { expect } from 'chai';
import { isLong } from '../../helpers/long.js';
import { Child } from '../helpers/child.js';
import { dollars, onEachStore } from '../helpers/ground.js';

const KILLS = isLong ? 10 : 3;
const PROCESSES = { sqlite: 2, postgres: 4 };
/** The calls at an allowance, which has room for about a third of them. */
const CALLS = isLong ? 10_000 : 800;
const AMOUNT_CALLS = CALLS / 4;
const AMOUNT_NANO = BigInt(CALLS);

onEachStore('several processes on one store', (ground) => {
  it('add up on one database', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const children = [
      new Child('spender', ground.place.url, id, 300),
      new Child('spender', ground.place.url, id, 300),
    ];
    expect(await Promise.all(children.map((child) => child.end()))).to.deep.equal([0, 0]);
    const settled = children.flatMap(({ lines }) => lines);
    const entries = (await store.ledger(id, { limit: 1_000 })).slice(1);
    expect(settled).to.have.length(480);
    expect(entries.map(({ reference }) => reference)).to.have.members(settled);
    expect(await store.verify()).to.deep.equal({
      accounts: 1,
      entries: 481,
      open_holds: 0,
      faults: [],
    });
    expect(await ground.place.sql('select id from processes')).to.deep.equal([]);
  });

  it('spend not a nano-dollar beyond an allowance, also when one of them is killed', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const { key } = await store.createKey(id, 'agent', { allowances: { '2d': AMOUNT_NANO } });
    const children = Array.from(
      { length: PROCESSES[store.dialect] },
      () => new Child('spender', ground.place.url, id, CALLS / PROCESSES[store.dialect], key.id),
    );
    // On a busy machine one may have spent all before another one has begun.
    const first = await Promise.any(children.map((child) => child.settled(5).then(() => child)));
    await first.kill();
    const others = children.filter((child) => child !== first);
    const statuses = await Promise.all(others.map((child) => child.end()));
    expect(statuses).to.deep.equal(others.map(() => 0));
    await store.recover();
    // The last calls, which take what a killed process held, and what releases left.
    await new Child('spender', ground.place.url, id, AMOUNT_CALLS, key.id).end();
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
    const [entry] = await ground.place.sql(
      `select -sum(amount_nano) as spent from ledger where kind = 'charge'`,
    );
    const [row] = await ground.place.sql('select spent_nano, held_nano from allowances');
    expect([row?.spent_nano, row?.held_nano].map(String)).to.deep.equal([
      String(entry?.spent),
      '0',
    ]);
    // A hold of 10 finds no room in the rest.
    expect(AMOUNT_NANO - BigInt(String(entry?.spent))).to.satisfy(
      (left: bigint) => left >= 0n && left < 10n,
    );
  });

  it('lose no charge and double none when they are killed', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const settled: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const child = new Child('spender', ground.place.url, id, 1_000_000);
      await child.settled(1 + kill * 7);
      await child.kill();
      settled.push(...child.lines);
      await store.recover();
      expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
    }
    const entries = await store.ledger(id, { limit: 1_000_000 });
    const charged = entries.slice(1).map(({ reference }) => reference);
    expect(new Set(charged).size).to.equal(charged.length);
    expect(charged).to.include.members(settled);
    // What was committed but not yet answered when the kill came: at most what was in flight.
    expect(charged.length - settled.length).to.be.within(0, 8 * KILLS);
    expect((await store.account(id))?.held_nano).to.equal(0n);
  });
});
