import { expect } from 'chai';
import { isLong } from '../../helpers/long.js';
import { Child } from '../helpers/child.js';
import { dollars, onEachStore } from '../helpers/ground.js';

const KILLS = isLong ? 10 : 3;

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
