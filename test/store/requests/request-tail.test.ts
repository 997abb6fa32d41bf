import { expect } from 'chai';
import type { RequestTail } from '../../../src/store/requests/request-types.js';
import { onEachStore } from '../helpers/ground.js';
import { recordAt, rollUp } from './helpers.js';

const NOW_MS = 1_800_000_000_000;

onEachStore('the tail of the requests', (ground) => {
  it('begins at the end, and has each record once, in the order of the writes', async () => {
    const store = await ground.open();
    const { requests } = store;
    await requests.add([recordAt(NOW_MS)]);
    // On PostgreSQL the tail has what the totals have.
    const certain = async (of: () => Promise<RequestTail>, count: number): Promise<RequestTail> => {
      await rollUp(ground, store);
      const found = await of();
      expect(found.records).to.have.length(count);
      return found;
    };
    const first = await certain(() => requests.tail({ seq: 0n, id: '' }, 10), 1);
    let { cursor } = await requests.tail(undefined, 10);
    expect(cursor.seq).to.equal(first.cursor.seq);
    expect((await requests.tail(cursor, 10)).records).to.deep.equal([]);
    // A long request ends after a short one that came later.
    const batches = [
      [recordAt(NOW_MS + 5_000), recordAt(NOW_MS + 6_000)],
      [recordAt(NOW_MS + 1_000)],
      [recordAt(NOW_MS + 9_000)],
    ];
    for (const batch of batches) await requests.add(batch);
    const wanted = batches.flatMap((batch) => batch.map(({ id }) => id));
    const begin = cursor;
    const all = await certain(() => requests.tail(begin, 10), 4);
    expect(all.records.map(({ id }) => id)).to.deep.equal(wanted);
    const seen: string[] = [];
    for (let step = 0; step < 5; step++) {
      const found = await requests.tail(cursor, 1);
      seen.push(...found.records.map(({ id }) => id));
      ({ cursor } = found);
    }
    expect(seen).to.deep.equal(wanted);
  });

  it('goes on after all records were deleted', async () => {
    const store = await ground.open();
    const { requests } = store;
    await requests.add([recordAt(NOW_MS), recordAt(NOW_MS + 1)]);
    let { cursor } = await requests.tail(undefined, 10);
    await ground.place.sql('delete from requests');
    ({ cursor } = await requests.tail(cursor, 10));
    const late = recordAt(NOW_MS + 2);
    await requests.add([late]);
    await rollUp(ground, store);
    const { records } = await requests.tail(cursor, 10);
    expect(records.map(({ id }) => id)).to.deep.equal([late.id]);
  });
});

onEachStore('the open holds', (ground) => {
  it('are counted and summed', async () => {
    const store = await ground.open();
    expect(await store.openHolds()).to.deep.equal({ count: 0, amount_nano: 0n });
    const { id } = await store.createAccount('alice', 5_000_000_000n);
    await store.hold('r1', id, 1_500_000_001n);
    await store.hold('r2', id, 2n);
    expect(await store.openHolds()).to.deep.equal({ count: 2, amount_nano: 1_500_000_003n });
  });
});
