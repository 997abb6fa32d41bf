import { expect } from 'chai';
import type { Rest } from '../../../src/store/rests/rests.js';
import { onEachStore } from '../helpers/ground.js';

onEachStore('the upstreams that rest', (ground) => {
  const UP = { provider: 'up', model: 'm' };
  const restAt = (change: Partial<Rest> = {}): Rest => ({
    ...UP,
    fault: 'broken',
    failures: 1,
    since_ms: ground.now_ms,
    until_ms: ground.now_ms + 1_000,
    told_until_ms: 0,
    probe_until_ms: 0,
    ...change,
  });

  it('are the same for all processes, until one of them sees an answer', async () => {
    const [one, other] = [await ground.open(), await ground.open()];
    const rest = restAt();
    await one.rests.exchange([{ is_over: false, rest, sets_probe: false }]);
    expect(await other.rests.exchange([])).to.deep.equal([rest]);
    await other.rests.exchange([{ is_over: true, upstream: UP }]);
    expect(await one.rests.list()).to.deep.equal([]);
  });

  it('rest for the longest time that a process knows, and keep the probe of another', async () => {
    const { rests } = await ground.open();
    const long = restAt({ failures: 3, until_ms: ground.now_ms + 4_000, probe_until_ms: 9 });
    const brief = restAt({ failures: 2, told_until_ms: ground.now_ms + 2_000, fault: 'timeout' });
    await rests.exchange([{ is_over: false, rest: long, sets_probe: true }]);
    await rests.exchange([{ is_over: false, rest: brief, sets_probe: false }]);
    const { told_until_ms, fault } = brief;
    expect(await rests.list()).to.deep.equal([{ ...long, told_until_ms, fault }]);
  });

  it('are probed by one of many calls, and by another once its time is over', async () => {
    const stores = [await ground.open(), await ground.open()];
    await stores[0]?.rests.exchange([{ is_over: false, rest: restAt(), sets_probe: false }]);
    const claims = async (): Promise<number> => {
      const { now_ms } = ground;
      const claim = restAt({ probe_until_ms: now_ms + 10_000 });
      const all = [...stores, ...stores].map(({ rests }) => rests.claim(claim, now_ms));
      return (await Promise.all(all)).filter((one) => one === 'claimed').length;
    };
    expect(await claims(), 'while it rests').to.equal(0);
    ground.now_ms += 1_000;
    expect(await claims(), 'after its rest').to.equal(1);
    ground.now_ms += 9_999;
    expect(await claims(), 'while it is probed').to.equal(0);
    ground.now_ms += 1;
    expect(await claims(), 'after a probe that never ended').to.equal(1);
  });

  it('do not begin to rest again by the claim of a process that has not heard', async () => {
    const { rests } = await ground.open();
    expect(await rests.claim(restAt(), ground.now_ms + 1_000)).to.equal('over');
    expect(await rests.list()).to.deep.equal([]);
  });

  it('are called again as soon as an operator says so, which the audit log notes', async () => {
    const { rests, audit } = await ground.open();
    const other = restAt({ provider: 'other' });
    for (const rest of [restAt(), other])
      await rests.exchange([{ is_over: false, rest, sets_probe: false }]);
    expect(await rests.resume('up')).to.deep.equal([restAt()]);
    expect(await rests.resume('up')).to.deep.equal([]);
    expect(await rests.list()).to.deep.equal([other]);
    const [entry, ...more] = await audit.list({ limit: 10 });
    expect(more).to.deep.equal([]);
    expect(entry).to.deep.include({ action: 'provider.resume', subject: 'up' });
    expect(entry?.before).to.deep.equal({ resting: ['m'] });
  });

  it('are forgotten an hour after the last call', async () => {
    const { rests } = await ground.open();
    await rests.exchange([{ is_over: false, rest: restAt(), sets_probe: false }]);
    ground.now_ms += 3_601_000;
    await rests.sweep();
    expect(await rests.list()).to.have.length(1);
    ground.now_ms += 1;
    await rests.sweep();
    expect(await rests.list()).to.deep.equal([]);
  });
});
