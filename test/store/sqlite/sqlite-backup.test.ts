import { expect } from 'chai';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.js';
import { backupStore } from '../../../src/store/backup.js';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, refusal } from '../helpers/ground.js';
import { migrateTo } from '../helpers/old-store.js';

const LARGE_ROWS = 6_000;

describe('a backup of a store in SQLite', () => {
  let folder: string;
  let live: string;
  let target: string;
  let umask: number;
  let store: Store | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
    mkdirSync(join(folder, 'backups'));
    live = join(folder, 'data', 'tollgate.db');
    target = join(folder, 'backups', 'monday.db');
    umask = process.umask(0);
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });

  const open = async (file = live): Promise<Store> =>
    openStore(`sqlite:${file}`, { now: Date.now });
  const backup = (options = {}) => backupStore(`sqlite:${live}`, target, options);
  const backups = () => readdirSync(join(folder, 'backups'));

  async function begin(): Promise<string> {
    store = await open();
    const { id } = await store.createAccount('ann', dollars(10));
    return id;
  }

  it('holds the store, is readable by its owner only, and leaves nothing else', async () => {
    const id = await begin();
    await store?.hold('r1', id, dollars(2));
    await store?.charge(chargeOf('r1', id, dollars(1)));
    await store?.hold('r2', id, dollars(3));
    const report = await backup();
    const bytes = statSync(target).size;
    expect(report).to.deep.equal({ file: target, bytes, accounts: 1, entries: 2, open_holds: 1 });
    expect(statSync(target).mode & 0o777).to.equal(0o600);
    expect(backups()).to.deep.equal(['monday.db']);
    const restored = await open(target);
    expect(await restored.account('ann')).to.include({
      balance_nano: dollars(9),
      held_nano: dollars(3),
    });
    expect((await restored.verify()).faults).to.deep.equal([]);
    await restored.close();
  });

  it('is of one moment, and is not begun anew by charges that are made meanwhile', async () => {
    const id = await begin();
    // Large enough for several steps: at each of them charges are committed.
    const rows = openSqliteFile(live);
    rows.exec('create table ballast (bytes blob)');
    const insert = rows.prepare('insert into ballast values (randomblob(4000))');
    rows.transaction(() => {
      for (let row = 0; row < LARGE_ROWS; row++) insert.run();
    })();
    rows.close();
    let isOver = false;
    let count = 0;
    const charging = (async () => {
      while (!isOver) {
        await store?.hold(`r${count}`, id, 2n);
        await store?.charge(chargeOf(`r${count}`, id, 1n));
        count += 1;
      }
    })();
    const { entries } = await backup().finally(() => (isOver = true));
    await charging;
    expect(count, 'charges while it was copied').to.be.greaterThan(entries - 1);
    const restored = await open(target);
    const { balance_nano } = (await restored.account('ann')) ?? { balance_nano: 0n };
    expect(balance_nano).to.equal(dollars(10) - BigInt(entries - 1));
    await restored.close();
  });

  it('replaces a file only when it is told to', async () => {
    await begin();
    writeFileSync(target, 'kept');
    expect(await refusal(backup())).to.equal(
      `StoreError: ${target} is there already; --force replaces it.`,
    );
    expect(readFileSync(target, 'utf8')).to.equal('kept');
    expect(await backup({ force: true })).to.include({ accounts: 1 });
    expect(backups()).to.deep.equal(['monday.db']);
  });

  it('never replaces the store itself, under whatever name', async () => {
    await begin();
    const link = join(folder, 'link.db');
    const other = join(folder, 'other.db');
    symlinkSync(live, link);
    linkSync(live, other);
    for (const name of [live, `${live}-wal`, `${live}-shm`, link, other]) {
      const said = await refusal(backupStore(`sqlite:${live}`, name, { force: true }));
      expect(said).to.equal(`StoreError: ${name} belongs to the store itself. Name another file.`);
    }
    expect(await store?.accounts()).to.have.length(1);
  });

  it('is refused beside a log that SQLite would mix into it', async () => {
    await begin();
    writeFileSync(`${target}-wal`, 'of another database');
    expect(await refusal(backup({ force: true }))).to.include(`${target}-wal is there`);
    expect(existsSync(target)).to.equal(false);
  });

  it('names a folder that is not there, a folder in place of a file, and a missing store', async () => {
    expect(await refusal(backup())).to.equal(
      `StoreError: There is no store yet: ${live} is not there; "tollgate serve" makes one, or correct "store" in gateway.yaml`,
    );
    await begin();
    const url = `sqlite:${live}`;
    const missing = join(folder, 'nowhere');
    expect(await refusal(backupStore(url, join(missing, 'a.db')))).to.equal(
      `StoreError: There is no folder ${missing}.`,
    );
    expect(await refusal(backupStore(url, folder, { force: true }))).to.equal(
      `StoreError: ${folder} is a folder. Name a file in it.`,
    );
  });

  it('keeps the older backup where the store does not add up', async () => {
    await begin();
    writeFileSync(target, 'older');
    const sql = openSqliteFile(live);
    sql.exec('update accounts set balance_nano = balance_nano + 1');
    sql.close();
    expect(await refusal(backup({ force: true }))).to.match(
      /^StoreError: No backup was made: the store does not add up: Account acc_\w+ has a balance/u,
    );
    expect(readFileSync(target, 'utf8')).to.equal('older');
    expect(backups()).to.deep.equal(['monday.db']);
  });

  it('is refused where pages of the store are damaged', async () => {
    await begin();
    await store?.close();
    store = undefined;
    const pages = statSync(live).size / 4096;
    const file = openSync(live, 'r+');
    for (let page = 2; page < pages; page++)
      writeSync(file, Buffer.alloc(200, 7), 0, 200, page * 4096);
    closeSync(file);
    expect(await refusal(backup())).to.match(/^StoreError: No backup was made: /u);
    expect(backups()).to.deep.equal([]);
  });

  it('leaves nothing behind when it is stopped', async () => {
    await begin();
    const stop = new AbortController();
    const stopped = refusal(backup({ signal: stop.signal }));
    stop.abort(new Error('stopped'));
    expect(await stopped).to.equal('Error: stopped');
    expect(backups()).to.deep.equal([]);
  });

  it('is one sentence where the file cannot be made', async () => {
    await begin();
    const name = join(folder, 'backups', 'x'.repeat(255));
    const said = await refusal(backupStore(`sqlite:${live}`, name));
    expect(said).to.match(/^StoreError: No backup was made: ENAMETOOLONG/u);
  });

  it('leaves the store of an older version as old as it was', async () => {
    await migrateTo({ dialect: 'sqlite', url: `sqlite:${live}` }, '001-accounts');
    const sql = openSqliteFile(live);
    sql.exec(`insert into accounts values ('acc_1', 'ann', 10, 0, 1);
      insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
        values ('acc_1', 'credit', 'c', 10, false, 1)`);
    sql.close();
    expect(await backup()).to.include({ accounts: 1, entries: 1, open_holds: 0 });
    for (const file of [live, target]) {
      const read = openSqliteFile(file);
      const names = read.prepare('select name from migrations').all();
      read.close();
      expect(names, file).to.deep.equal([{ name: '001-accounts' }]);
    }
  });
});
