import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../src/store/open.js';
import { emptyPlace, migrateTo } from './helpers/old-store.js';
import { onEachStore, refusal } from './helpers/ground.js';

describe('openStore', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-open-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (url: string) => openStore(url, { now: () => 0 });

  it('makes the file and the folders above it', async () => {
    const store = await open(`sqlite:${folder}/a/b/c.db`);
    expect(store.dialect).to.equal('sqlite');
    await store.close();
    expect(existsSync(`${folder}/a/b/c.db`)).to.equal(true);
    // A clean close leaves one file, which can be copied as it is.
    expect(readdirSync(`${folder}/a/b`)).to.deep.equal(['c.db']);
  });

  it('takes the ID of the process that it is given', async () => {
    const store = await openStore(`sqlite:${folder}/c.db`, { now: () => 0, process_id: 'p1' });
    const { id } = await store.createAccount('ann', 1n);
    await store.hold('r1', id, 1n);
    await store.close();
    const again = await open(`sqlite:${folder}/c.db`);
    expect(await again.recover()).to.equal(1);
    await again.close();
  });

  const refused: [string, (folder: string) => string, RegExp][] = [
    ['another kind of URL', () => 'mysql://me:secret@host/db', /^StoreError: The store must be/],
    [
      'a file that is no database',
      (at) => `sqlite:${at}/text`,
      /StoreError: .*text is not a SQLite database: /,
    ],
    ['a path below a file', (at) => `sqlite:${at}/text/a.db`, /StoreError: The store cannot be/],
    [
      'a server that is not there',
      () => 'postgres://me:secret@127.0.0.1:1/db',
      /^StoreError: The store cannot be opened: .*ECONNREFUSED/,
    ],
  ];
  for (const [what, url, sentence] of refused) {
    it(`refuses ${what} without showing a password`, async () => {
      writeFileSync(
        join(folder, 'text'),
        'Not a database, but long enough to look into.'.repeat(9),
      );
      const said = await refusal(open(url(folder)));
      expect(said).to.match(sentence).and.not.to.contain('secret');
    });
  }

  if (!process.env.TOLLGATE_TEST_POSTGRES) {
    it('does all the same on PostgreSQL (set TOLLGATE_TEST_POSTGRES to its URL)');
  }
});

onEachStore('openStore', (ground) => {
  it('names the database that answers', async () => {
    const store = await ground.open();
    expect(store.dialect).to.equal(ground.place.dialect);
  });

  it('finds after a restart what was written before it', async () => {
    const store = await ground.open();
    const account = await store.createAccount('ann', 12n);
    await ground.close(store);
    expect(await (await ground.open()).account('ann')).to.deep.equal(account);
  });

  it('is not migrated by a command under the boxes of an older version', async () => {
    await emptyPlace(ground.place);
    await migrateTo(ground.place, '015-account-days');
    const older = /^StoreError: The store is of an older version of Tollgate: "tollgate migrate"/u;
    for (const purpose of ['using', 'creating'] as const) {
      const opened = openStore(ground.place.url, { now: Date.now, purpose });
      expect(await refusal(opened)).to.match(older);
    }
    expect(await ground.place.sql('select name from migrations')).to.have.length(15);
    await (await ground.open()).createAccount('ann', 1n);
    const store = await openStore(ground.place.url, { now: Date.now, purpose: 'using' });
    expect(await store.accounts()).to.have.length(1);
    await store.close();
  });

  it('makes a store for the first account, where there is none', async () => {
    await emptyPlace(ground.place);
    const store = await openStore(ground.place.url, { now: Date.now, purpose: 'creating' });
    expect((await store.createAccount('ann', 1n)).name).to.equal('ann');
    await store.close();
  });
});
