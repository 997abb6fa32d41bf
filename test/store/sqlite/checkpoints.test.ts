import { expect } from 'chai';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.js';
import { Checkpoints } from '../../../src/store/sqlite/checkpoints.js';
import { until } from '../../helpers/until.js';

describe('the thread that makes checkpoints', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-checkpoints-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('copies what is written into the database, and ends when it is closed', async () => {
    const file = join(folder, 'a.db');
    const writer = openSqliteFile(file);
    writer.pragma('journal_mode = WAL');
    writer.pragma('wal_autocheckpoint = 0');
    writer.exec('create table texts (text)');
    const insert = writer.prepare('insert into texts values (zeroblob(100000))');
    const changes: boolean[] = [];
    const onChange = (isRunning: boolean): number => changes.push(isRunning);
    const checkpoints = new Checkpoints({ file, onChange, every_ms: 5 });
    for (let row = 1; row <= 5; row += 1) {
      insert.run();
      await until(() => statSync(file).size > row * 100_000, 'a checkpoint');
    }
    expect(changes).to.deep.equal([true]);
    await checkpoints.close();
    expect(changes).to.deep.equal([true, false]);
    writer.close();
  });

  it('leaves them to the commits where it cannot open the file', async () => {
    const changes: boolean[] = [];
    const checkpoints = new Checkpoints({
      file: join(folder, 'none.db'),
      onChange: (isRunning) => changes.push(isRunning),
      every_ms: 1,
    });
    await until(() => changes.length > 0, 'the end of the thread');
    expect(changes).to.deep.equal([false]);
    await checkpoints.close();
  });
});
