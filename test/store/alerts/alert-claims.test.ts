import { expect } from 'chai';
import { onEachStore } from '../helpers/ground.js';

const DAY_MS = 24 * 3_600_000;

onEachStore('the claims of alerts', (ground) => {
  it('go to one of all processes, until they are cleared or a day has passed', async () => {
    const stores = [await ground.open(), await ground.open()];
    const claim = async (condition: string): Promise<number> => {
      const calls = [...stores, ...stores].map(({ alerts }) => alerts.claim(condition, DAY_MS));
      return (await Promise.all(calls)).filter(Boolean).length;
    };
    expect(await claim('one')).to.equal(1);
    expect(await claim('one')).to.equal(0);
    expect(await claim('other')).to.equal(1);
    ground.now_ms += DAY_MS - 1;
    expect(await claim('one')).to.equal(0);
    ground.now_ms += 1;
    expect(await claim('one')).to.equal(1);
    await stores[0]?.alerts.clear('one');
    expect(await claim('one')).to.equal(1);
  });
});

onEachStore('the open holds', (ground) => {
  it('are counted over all processes', async () => {
    const [one, other] = [await ground.open(), await ground.open()];
    expect(await one.openHolds()).to.deep.equal({ count: 0, amount_nano: 0n });
    const { id } = await one.createAccount('ann', 5_000_000_000n);
    const { key } = await one.createKey(id, 'k');
    await one.hold('r-1', id, 1_000_000_000n, key.id);
    await other.hold('r-2', id, 2_000_000_000n, key.id);
    expect(await one.openHolds()).to.deep.equal({ count: 2, amount_nano: 3_000_000_000n });
    await other.release('r-2', id);
    expect(await other.openHolds()).to.deep.equal({ count: 1, amount_nano: 1_000_000_000n });
  });
});
