import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Store } from '../../../src/store/store-types.js';
import { onEachStore } from '../helpers/ground.js';
import { emptyPlace, migrateTo } from '../helpers/old-store.js';

const IMAGE = Buffer.from('89504e470d0a1a0a00ff', 'hex');
const HOUR_MS = 3_600_000;

onEachStore('hosted images in the store', (ground) => {
  const terms = (total_bytes = 1_000, account_id: string | null = null, free = false) => ({
    due_ms: ground.now_ms + HOUR_MS,
    total_bytes,
    account_id,
    free,
  });

  const ids = async (): Promise<unknown[]> =>
    (await ground.place.sql('select id from hosted_images order by id')).map(({ id }) => id);

  const isKept = async (store: Store, id: string): Promise<boolean> =>
    (await store.images.image(id)) !== undefined;

  it('come back byte for byte', async () => {
    const { images } = await ground.open();
    await images.keep('one', IMAGE, terms());
    const { due_ms } = terms();
    expect(await images.image('one')).to.deep.equal({ bytes: IMAGE, due_ms });
    expect(await images.image('other')).to.equal(undefined);
  });

  it('are there for another process, and after a restart', async () => {
    const first = await ground.open();
    await first.images.keep('one', IMAGE, terms());
    const second = await ground.open();
    expect(await isKept(second, 'one')).to.equal(true);
    await ground.close(first);
    await ground.close(second);
    expect(await isKept(await ground.open(), 'one')).to.equal(true);
  });

  it('expire on time, swept or not', async () => {
    const store = await ground.open();
    await store.images.keep('one', IMAGE, terms());
    ground.now_ms += HOUR_MS / 2;
    await store.images.keep('two', IMAGE, terms());
    expect(await store.images.sweep()).to.equal(0);
    ground.now_ms += HOUR_MS / 2;
    expect([await isKept(store, 'one'), await isKept(store, 'two')]).to.deep.equal([false, true]);
    expect(await store.images.sweep()).to.equal(1);
    expect(await ground.place.sql('select id from hosted_images')).to.deep.equal([{ id: 'two' }]);
  });

  it('give up the oldest for the newest, and never weigh more than they may', async () => {
    const store = await ground.open();
    for (const id of ['a', 'b', 'c', 'd']) {
      await store.images.keep(id, IMAGE, terms(IMAGE.length * 3));
      ground.now_ms += 1;
    }
    const kept = await Promise.all(['a', 'b', 'c', 'd'].map((id) => isKept(store, id)));
    expect(kept).to.deep.equal([false, true, true, true]);
    await store.images.keep('large', Buffer.alloc(25), terms(30));
    const rows = await ground.place.sql('select id from hosted_images');
    expect(rows).to.deep.equal([{ id: 'large' }]);
  });

  it('are given up by the account that keeps the most, not by everybody', async () => {
    const store = await ground.open();
    const total = IMAGE.length * 4;
    await store.images.keep('bob', IMAGE, terms(total, 'bob'));
    for (const id of ['eve-1', 'eve-2', 'eve-3', 'eve-4', 'eve-5']) {
      ground.now_ms += 1;
      await store.images.keep(id, IMAGE, terms(total, 'eve'));
    }
    expect(await ids()).to.deep.equal(['bob', 'eve-3', 'eve-4', 'eve-5']);
    ground.now_ms += 1;
    await store.images.keep('ann', IMAGE, terms(total, 'ann'));
    expect(await ids()).to.deep.equal(['ann', 'bob', 'eve-4', 'eve-5']);
  });

  it('have a tenth of the room where they cost nothing', async () => {
    const store = await ground.open();
    const total = IMAGE.length * 20;
    await store.images.keep('bob', IMAGE, terms(total, 'bob', true));
    await store.images.keep('eve', IMAGE, terms(total, 'eve'));
    for (const id of ['eve-1', 'eve-2', 'eve-3']) {
      ground.now_ms += 1;
      await store.images.keep(id, IMAGE, terms(total, 'eve', true));
    }
    expect(await ids()).to.deep.equal(['bob', 'eve', 'eve-3']);
  });

  it('are not given where their bytes were never written', async () => {
    const store = await ground.open();
    await store.images.keep('one', IMAGE, terms());
    await ground.place.sql("update hosted_images set size_bytes = size_bytes + 1 where id = 'one'");
    expect(await isKept(store, 'one')).to.equal(false);
  });

  it('of an older version, which called them pictures, are still there after an upgrade', async () => {
    const { place, now_ms } = ground;
    const folder = place.url.replace('sqlite:', '');
    const isFile = place.dialect === 'sqlite';
    await emptyPlace(place);
    await migrateTo(place, '015-account-days');
    for (const id of ['one', 'two']) {
      const data = isFile ? 'null' : `decode('${IMAGE.toString('hex')}', 'hex')`;
      await place.sql(`insert into pictures (id, size_bytes, due_ms, account_id, free, data)
        values ('${id}', ${IMAGE.length}, ${now_ms + HOUR_MS}, 'ann', false, ${data})`);
    }
    const keepAsBefore = (id: string): void => {
      if (!isFile) return;
      mkdirSync(`${folder}-pictures`, { recursive: true });
      writeFileSync(`${folder}-pictures/${id}`, IMAGE);
    };
    keepAsBefore('one');
    const first = await ground.open();
    expect(await first.images.image('one')).to.include({ due_ms: now_ms + HOUR_MS });
    // The older version ran again, on a backup that was restored.
    keepAsBefore('two');
    const second = await ground.open();
    for (const id of ['one', 'two']) expect(await isKept(second, id), id).to.equal(true);
    expect(existsSync(`${folder}-pictures`)).to.equal(false);
  });
});
