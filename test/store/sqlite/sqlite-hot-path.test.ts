import type Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.js';
import { batchedReads } from '../../../src/store/sqlite/sqlite-hot-path.js';

interface Row {
  name: string;
}

describe('batched reads of a SQLite file', () => {
  let folder: string;
  let database: Sqlite.Database;
  let beside: Sqlite.Database;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-reads-'));
    database = openSqliteFile(join(folder, 'a.db'));
    database.pragma('journal_mode = WAL');
    database.exec("create table keys (name text); insert into keys values ('a'), ('b')");
    beside = openSqliteFile(join(folder, 'a.db'));
  });

  afterEach(() => {
    beside.close();
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const reads = () => {
    const get = database.prepare<[string], Row>('select name from keys where name = ?');
    return batchedReads<Row>(database, (name) => get.get(name));
  };

  it('answer one read, and many reads of one turn of the event loop', async () => {
    const some = reads();
    expect(await some.load('a')).to.deep.equal({ name: 'a' });
    const many = await Promise.all(['a', 'x', 'b'].map((name) => some.load(name)));
    expect(many).to.deep.equal([{ name: 'a' }, undefined, { name: 'b' }]);
    expect(database.inTransaction).to.equal(false);
  });

  it('cache nothing: a row that another connection deleted is not found', async () => {
    const some = reads();
    expect(await some.load('a')).to.deep.equal({ name: 'a' });
    beside.exec("delete from keys where name = 'a'");
    const both = await Promise.all([some.load('a'), some.load('b')]);
    expect(both).to.deep.equal([undefined, { name: 'b' }]);
  });

  it('retry a read alone if the batch failed, and reject a lasting error', async () => {
    let asked = 0;
    const some = batchedReads<Row>(database, (name) => {
      asked += 1;
      if (name === 'bad' || asked === 1) throw new Error('in the way');
      return { name };
    });
    const answers = await Promise.allSettled(['a', 'b', 'bad'].map((name) => some.load(name)));
    expect(answers.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
  });
});
