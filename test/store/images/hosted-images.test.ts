import { expect } from 'chai';
import type { Store } from '../../../src/store/store-types.js';
import { onEachStore } from '../helpers/ground.js';

const PICTURE = Buffer.from('89504e470d0a1a0a00ff', 'hex');
const HOUR_MS = 3_600_000;

onEachStore('the kept pictures', (ground) => {
  const terms = (total_bytes = 1_000, account_id: string | null = null, free = false) => ({
    due_ms: ground.now_ms + HOUR_MS,
    total_bytes,
    account_id,
    free,
  });

  const ids = async (): Promise<unknown[]> =>
    (await ground.place.sql('select id from pictures order by id')).map(({ id }) => id);

  const isKept = async (store: Store, id: string): Promise<boolean> =>
    (await store.pictures.picture(id)) !== undefined;

  it('come back byte for byte', async () => {
    const { pictures } = await ground.open();
    await pictures.keep('one', PICTURE, terms());
    const { due_ms } = terms();
    expect(await pictures.picture('one')).to.deep.equal({ bytes: PICTURE, due_ms });
    expect(await pictures.picture('other')).to.equal(undefined);
  });

  it('are there for another process, and after a restart', async () => {
    const first = await ground.open();
    await first.pictures.keep('one', PICTURE, terms());
    const second = await ground.open();
    expect(await isKept(second, 'one')).to.equal(true);
    await ground.close(first);
    await ground.close(second);
    expect(await isKept(await ground.open(), 'one')).to.equal(true);
  });

  it('are gone at their time, whether swept or not', async () => {
    const store = await ground.open();
    await store.pictures.keep('one', PICTURE, terms());
    ground.now_ms += HOUR_MS / 2;
    await store.pictures.keep('two', PICTURE, terms());
    expect(await store.pictures.sweep()).to.equal(0);
    ground.now_ms += HOUR_MS / 2;
    expect([await isKept(store, 'one'), await isKept(store, 'two')]).to.deep.equal([false, true]);
    expect(await store.pictures.sweep()).to.equal(1);
    expect(await ground.place.sql('select id from pictures')).to.deep.equal([{ id: 'two' }]);
  });

  it('give up the oldest for the newest, and never weigh more than they may', async () => {
    const store = await ground.open();
    for (const id of ['a', 'b', 'c', 'd']) {
      await store.pictures.keep(id, PICTURE, terms(PICTURE.length * 3));
      ground.now_ms += 1;
    }
    const kept = await Promise.all(['a', 'b', 'c', 'd'].map((id) => isKept(store, id)));
    expect(kept).to.deep.equal([false, true, true, true]);
    await store.pictures.keep('large', Buffer.alloc(25), terms(30));
    const rows = await ground.place.sql('select id from pictures');
    expect(rows).to.deep.equal([{ id: 'large' }]);
  });

  it('are given up by the account that keeps the most, not by everybody', async () => {
    const store = await ground.open();
    const total = PICTURE.length * 4;
    await store.pictures.keep('bob', PICTURE, terms(total, 'bob'));
    for (const id of ['eve-1', 'eve-2', 'eve-3', 'eve-4', 'eve-5']) {
      ground.now_ms += 1;
      await store.pictures.keep(id, PICTURE, terms(total, 'eve'));
    }
    expect(await ids()).to.deep.equal(['bob', 'eve-3', 'eve-4', 'eve-5']);
    ground.now_ms += 1;
    await store.pictures.keep('ann', PICTURE, terms(total, 'ann'));
    expect(await ids()).to.deep.equal(['ann', 'bob', 'eve-4', 'eve-5']);
  });

  it('have a tenth of the room where they cost nothing', async () => {
    const store = await ground.open();
    const total = PICTURE.length * 20;
    await store.pictures.keep('bob', PICTURE, terms(total, 'bob', true));
    await store.pictures.keep('eve', PICTURE, terms(total, 'eve'));
    for (const id of ['eve-1', 'eve-2', 'eve-3']) {
      ground.now_ms += 1;
      await store.pictures.keep(id, PICTURE, terms(total, 'eve', true));
    }
    expect(await ids()).to.deep.equal(['bob', 'eve', 'eve-3']);
  });

  it('are not given where their bytes were never written', async () => {
    const store = await ground.open();
    await store.pictures.keep('one', PICTURE, terms());
    await ground.place.sql("update pictures set size_bytes = size_bytes + 1 where id = 'one'");
    expect(await isKept(store, 'one')).to.equal(false);
  });
});
