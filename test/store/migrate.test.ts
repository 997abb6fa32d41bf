import { expect } from 'chai';
import { migrate } from '../../src/store/migrate.js';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { onEachStore, refusal } from './helpers/ground.js';

const NAMES = MIGRATIONS.map(({ name }) => name);

onEachStore('migrate', (ground) => {
  it('applies what is pending, in order, and then nothing', async () => {
    expect(await migrate(ground.place.url)).to.deep.equal({ applied: NAMES });
    expect(await migrate(ground.place.url)).to.deep.equal({ applied: [] });
    const rows = await ground.place.sql('select name from migrations order by id');
    expect(rows.map(({ name }) => name)).to.deep.equal(NAMES);
  });

  it('applies each once where many begin at once', async () => {
    const urls = Array.from({ length: 4 }, () => ground.place.url);
    const results = await Promise.all(urls.map((url) => migrate(url)));
    expect(results.flatMap(({ applied }) => applied)).to.deep.equal(NAMES);
  });

  it('refuses a database that a newer version made, and leaves it alone', async () => {
    await migrate(ground.place.url);
    await ground.place.sql(`insert into migrations (name, batch) values ('999-later', 2)`);
    const sentence = /^StoreError: The database was made by a newer version .* "999-later"/;
    expect(await refusal(migrate(ground.place.url))).to.match(sentence);
    expect(await refusal(ground.open())).to.match(sentence);
    expect(await ground.place.sql('select id from accounts')).to.deep.equal([]);
  });

  it('is not stopped by a lock that a killed process left', async () => {
    await migrate(ground.place.url);
    await ground.place.sql(`delete from migrations where name = '${NAMES.at(-1) ?? ''}'`);
    await ground.place.sql('drop table ledger');
    expect(await refusal(migrate(ground.place.url))).to.match(/already exists|duplicate column/);
    const locks = await ground.place.sql('select is_locked from migrations_lock');
    expect(locks.map(({ is_locked }) => Number(is_locked))).to.deep.equal([0]);
    expect(await ground.place.sql('select name from migrations')).to.have.length(NAMES.length - 1);
  });

  it('keeps held amounts from falling below zero, whoever writes them', async () => {
    const store = await ground.open();
    await store.createAccount('ann', 0n);
    const said = await refusal(ground.place.sql('update accounts set held_nano = -1'));
    expect(said).to.contain('accounts_held_not_negative');
  });
});

describe('the list of migrations', () => {
  it('is numbered without a gap and names no file', () => {
    for (const [at, name] of NAMES.entries()) {
      expect(name).to.match(new RegExp(`^${String(at + 1).padStart(3, '0')}-[a-z-]+$`));
    }
  });
});
