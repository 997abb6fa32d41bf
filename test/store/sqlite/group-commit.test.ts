import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.js';
import { WalSync } from '../../../src/store/sqlite/sqlite-file.js';
import { collectBatch, GroupCommit, MAX_BATCH } from '../../../src/store/sqlite/group-commit.js';
import { refusal } from '../helpers/ground.js';

describe('group commit', () => {
  let folder: string;
  let database: Sqlite.Database;
  let beside: Sqlite.Database;
  let group: GroupCommit;
  let transactions: number;
  let again: boolean[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-group-'));
    database = openSqliteFile(join(folder, 'a.db'), { timeout: 0 });
    database.pragma('journal_mode = WAL');
    database.pragma('foreign_keys = ON');
    database.exec(`
      create table notes (note text not null unique);
      create table nowhere (id integer primary key);
      create table debts (id integer references nowhere deferrable initially deferred);
    `);
    beside = openSqliteFile(join(folder, 'a.db'), { timeout: 0 });
    transactions = 0;
    again = [];
    const begun = (isAgain: boolean): void => {
      transactions++;
      again.push(isAgain);
    };
    // No window ends because the machine was busy.
    const now_ms = () => 0;
    group = new GroupCommit(database, begun, new WalSync(`${database.name}-wal`), now_ms);
  });

  afterEach(() => {
    beside.close();
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const write = (note: string) => () => {
    database.prepare('insert into notes values (?)').run(note);
    return note;
  };

  const notes = () => beside.prepare<[], string>('select note from notes').pluck().all();

  it('commits the writes of one turn in one transaction, in order', async () => {
    const answers = await Promise.all(['a', 'b', 'c'].map((note) => group.add(write(note))));
    expect(answers).to.deep.equal(['a', 'b', 'c']);
    expect(notes()).to.deep.equal(['a', 'b', 'c']);
    expect(transactions).to.equal(1);
  });

  /** One who comes at once, and one a turn of the event loop later. */
  const inTwoTurns = (some: GroupCommit) =>
    Promise.all([
      some.add(write('a')),
      some.add(write('b')),
      new Promise((resolve) => setImmediate(resolve)).then(() => some.add(write('c'))),
    ]);

  it('adds a write that arrives a turn later, while more arrive', async () => {
    expect(await inTwoTurns(group)).to.deep.equal(['a', 'b', 'c']);
    expect(transactions).to.equal(1);
  });

  it('commits at once if the event loop idles during the fsync', async () => {
    const disk = Object.defineProperty(new WalSync(database.name), 'isQuick', { value: false });
    const eager = new GroupCommit(database, () => void transactions++, disk);
    expect(await inTwoTurns(eager)).to.deep.equal(['a', 'b', 'c']);
    expect(transactions).to.equal(2);
  });

  it('answers after the commit', async () => {
    const seen = await group.add(write('a')).then(notes);
    expect(seen).to.deep.equal(['a']);
  });

  it('limits the size of a transaction', async () => {
    await Promise.all(Array.from({ length: 600 }, (_, at) => group.add(write(`n${at}`))));
    expect(notes()).to.have.length(600);
    expect(transactions).to.equal(3);
  });

  it('undoes only the members that fail', async () => {
    const failing = () => {
      write('half')();
      throw new Error('second thoughts');
    };
    const results = await Promise.allSettled([
      group.add(write('a')),
      group.add(failing),
      group.add(write('a')),
      group.add(write('b')),
    ]);
    expect(results.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(notes()).to.deep.equal(['a', 'b']);
    expect(await group.add(write('c'))).to.equal('c');
    expect(again).to.deep.equal([false, true, false]);
  });

  it('rejects all members, and writes nothing, if the commit fails', async () => {
    const debt = () => database.exec('insert into debts values (1)');
    const asked = [group.add(write('a')), group.add(debt), group.add(write('b'))];
    for (const one of asked) expect(await refusal(one)).to.match(/FOREIGN KEY/);
    expect(notes()).to.deep.equal([]);
    expect(await group.add(write('c'))).to.equal('c');
  });

  it('rejects all members if an error ends the transaction', async () => {
    const end = () => {
      database.exec('rollback');
      throw new Error('the disk is full');
    };
    const asked = [group.add(write('a')), group.add(end), group.add(write('b'))];
    for (const one of asked) expect(await refusal(one)).to.equal('Error: the disk is full');
    expect(notes()).to.deep.equal([]);
    expect(await group.add(write('c'))).to.equal('c');
  });

  it('rejects all members if onBegin fails', async () => {
    const broken = new GroupCommit(database, () => {
      throw new Error('no begin');
    });
    expect(await refusal(broken.add(write('a')))).to.equal('Error: no begin');
    expect(notes()).to.deep.equal([]);
  });

  it('waits while another process writes, and adds writes that arrive meanwhile', async () => {
    beside.exec('begin immediate');
    const answered: string[] = [];
    const note = (text: string) => group.add(write(text)).then((value) => answered.push(value));
    const asked = [note('a'), note('b')];
    await sleep(30);
    asked.push(note('c'));
    await sleep(30);
    expect(answered).to.deep.equal([]);
    beside.exec('commit');
    await Promise.all(asked);
    expect(answered).to.deep.equal(['a', 'b', 'c']);
    expect(transactions).to.equal(1);
  });

  it('rejects the queued writes if the database is closed', async () => {
    const asked = group.add(write('a'));
    database.close();
    expect(await refusal(asked)).to.match(/not open/);
  });

  it('is idle once every queued write is committed', async () => {
    await group.idle();
    expect(transactions).to.equal(0);
    const asked = Array.from({ length: 300 }, (_, at) => group.add(write(`n${at}`)));
    await group.idle();
    expect(notes()).to.have.length(300);
    await Promise.all(asked);
  });
});

describe('the batch window', () => {
  let waiting: number[];
  let now_ms: number;

  beforeEach(() => {
    waiting = [1];
    now_ms = 0;
  });

  /** Turns of the event loop until all act; in each, `come` is called before it is looked. */
  const turnsUntil = (come: (turn: number) => void): Promise<number> =>
    new Promise((resolve) => {
      let [turn, isOver] = [0, false];
      const next = (): void => {
        if (isOver) return resolve(turn);
        turn += 1;
        come(turn);
        setImmediate(next);
      };
      setImmediate(next);
      collectBatch(
        waiting,
        () => (isOver = true),
        () => now_ms,
      );
    });

  const some = (count: number) => waiting.push(...Array.from({ length: count }, () => 1));

  it('serves a member that arrives alone in the next turn', async () => {
    expect(await turnsUntil(() => undefined)).to.equal(1);
    expect(waiting).to.have.length(1);
  });

  it('waits as long as each turn adds a member', async () => {
    expect(await turnsUntil((turn) => turn <= 7 && some(1))).to.equal(8);
    expect(waiting).to.have.length(8);
  });

  it('does not wait beyond a full batch', async () => {
    expect(await turnsUntil(() => some(MAX_BATCH / 4))).to.equal(4);
    expect(waiting).to.have.length(MAX_BATCH + 1);
  });

  it('ends after five milliseconds at the latest', async () => {
    const turn = await turnsUntil(() => {
      some(1);
      now_ms += 0.5;
    });
    expect(turn).to.equal(10);
  });
});
