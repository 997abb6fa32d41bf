import { expect } from 'chai';
import { newestRows } from '../../src/actions/newest-rows.js';
import { pageOf, timeOf } from '../../src/cli/listing.js';
import { fitted, isNumeric, type Grid } from '../../src/cli/fit-table.js';

const NOW_MS = Date.parse('2026-03-10T12:00:00Z');

describe('the options of a list', () => {
  it('take a time back from now, and a date of UTC', () => {
    const at = (text: string): string => new Date(timeOf(text, NOW_MS)).toISOString();
    expect(at('2h')).to.equal('2026-03-10T10:00:00.000Z');
    expect(at('3d')).to.equal('2026-03-07T12:00:00.000Z');
    expect(at('2026-01-31')).to.equal('2026-01-31T00:00:00.000Z');
    expect(at('2026-01-31T12:30')).to.equal('2026-01-31T12:30:00.000Z');
    expect(at('2026-01-31T12:30:01+02:00')).to.equal('2026-01-31T10:30:01.000Z');
    expect(at('2026-01-31T12:30:01.250Z')).to.equal('2026-01-31T12:30:01.250Z');
  });

  for (const text of ['yesterday', '2026-02-30', '2026-13-01', '2 h', '-1h', '', '90000d']) {
    it(`refuse the time "${text}"`, () => {
      expect(() => timeOf(text, NOW_MS)).to.throw('is not a time such as 2h, 3d');
    });
  }

  it('take a number of rows within bounds', () => {
    expect(pageOf({ limit: '7' }, NOW_MS)).to.deep.equal({ limit: 7 });
    expect(pageOf({}, NOW_MS, 50).limit).to.equal(50);
    for (const limit of ['0', '-1', '1.5', 'all', '100001']) {
      expect(() => pageOf({ limit }, NOW_MS)).to.throw('is not a number of rows');
    }
  });

  it('keep the newest rows', () => {
    const rows = [1, 2, 3, 4].map((created_ms) => ({ created_ms }));
    const kept = (page: Parameters<typeof newestRows>[1]) =>
      newestRows(rows, page).map(({ created_ms }) => created_ms);
    expect(kept({ limit: Infinity })).to.deep.equal([1, 2, 3, 4]);
    expect(kept({ limit: 2 })).to.deep.equal([3, 4]);
    expect(kept({ limit: 9, since_ms: 2 })).to.deep.equal([2, 3, 4]);
  });
});

describe('a table on a terminal', () => {
  const ID = '01a21454-ef53-75b1-b9e3-a540bf673469';
  const grid: Grid = {
    head: ['time', 'model', 'tokens', 'code', 'id'],
    rows: [
      ['2026-03-10T12:00:00.123Z', 'anthropic/claude-sonnet-4-5', '123456', '-', ID],
      ['2026-03-10T12:00:01.123Z', 'gpt', '1', '-', ID],
    ],
  };
  const widthOf = ({ head, rows }: Grid): number =>
    [head, ...rows]
      .reduce((widths, row) => row.map((cell, at) => Math.max(cell.length, widths[at] ?? 0)), [
        0,
      ] as number[])
      .reduce((sum, width) => sum + width + 2, -2);

  it('stays as it is where there is room', () => {
    const below = [[], []];
    expect(fitted(grid, widthOf(grid))).to.deep.equal({ ...grid, below });
    expect(fitted(grid, Infinity)).to.deep.equal({ ...grid, below });
  });

  it('loses seconds and empty columns first, then the ends of long texts, then IDs go below', () => {
    const slim = fitted(grid, 91);
    expect(slim.head).to.deep.equal(['time', 'model', 'tokens', 'id']);
    expect(slim.rows[0]?.[0]).to.equal('2026-03-10 12:00');
    expect(slim.rows[0]?.[1]).to.equal('anthropic/claude-sonnet-4-5');
    const slimmer = fitted(grid, 80);
    expect(slimmer.rows[0]?.[1]).to.match(/^anthropic.*…$/u);
    expect(slimmer.rows[0]?.[3]).to.equal(ID);
    const slimmest = fitted(grid, 60);
    expect(slimmest.head).to.deep.equal(['time', 'model', 'tokens']);
    expect(slimmest.below).to.deep.equal([[`    id ${ID}`], [`    id ${ID}`]]);
  });

  it('fits into every width, and loses no column that has a value', () => {
    for (let columns = 45; columns < 120; columns++) {
      const table = fitted(grid, columns);
      const lines = table.below.flat();
      expect(widthOf(table), String(columns)).to.be.at.most(columns);
      expect(Math.max(0, ...lines.map(({ length }) => length))).to.be.at.most(columns);
      for (const name of ['time', 'model', 'tokens', 'id']) {
        const isThere = table.head.includes(name) || table.below[0]?.join().includes(`${name} `);
        expect(isThere, `${name} at ${columns}`).to.equal(true);
      }
    }
  });

  it('cuts no ID in a column right of the first, however narrow the terminal', () => {
    const key = 'key_azM5NxfC0kxjxK4f';
    const ledger: Grid = {
      head: ['id', 'model', 'account', 'key', 'reference', 'note'],
      rows: [['7', 'a-model/with-a-long-name', 'ann@example.org', key, ID, 'n'.repeat(300)]],
    };
    for (let columns = 20; columns < 400; columns++) {
      const { rows, below } = fitted(ledger, columns);
      const words = [...(rows[0] ?? []), ...(below[0] ?? [])].join(' ').split(/[ ,]+/u);
      expect(words, String(columns)).to.include.members([key, ID]);
      if (columns > 30) expect(words).to.include('ann@example.org');
    }
  });

  it('never cuts a number', () => {
    for (let columns = 30; columns < 120; columns++) {
      const { head, rows } = fitted(grid, columns);
      const at = head.indexOf('tokens');
      if (at !== -1) expect(rows[0]?.[at]).to.equal('123456');
    }
  });

  it('aligns numbers to the right where some are missing, and no column of dashes alone', () => {
    const gaps: Grid = {
      head: ['in', 'cost', 'none'],
      rows: [
        ['12', '0.0004', '-'],
        ['-', '-', '-'],
      ],
    };
    expect([0, 1, 2].map((at) => isNumeric(gaps, at))).to.deep.equal([true, true, false]);
  });

  it('cuts no ID that a command needs and no time', () => {
    const keys: Grid = {
      head: ['id', 'name', 'prefix', 'created', 'last used', 'models', 'spent'],
      rows: [
        [
          'key_0123456789abcdefghij',
          'the laptop of somebody',
          'sk-tg-abcd',
          '2026-03-10T12:00:00.123Z',
          '-',
          'gpt-4o-mini, claude-sonnet-4-5',
          '0.00',
        ],
      ],
    };
    for (let columns = 60; columns < 120; columns++) {
      const { rows, below } = fitted(keys, columns);
      expect(rows[0]?.[0]).to.equal('key_0123456789abcdefghij');
      const all = [...(rows[0] ?? []), ...(below[0] ?? [])].join(' ');
      expect(all, String(columns)).to.match(/2026-03-10[T ]12:00/u);
    }
  });
});
