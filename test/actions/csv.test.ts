import { expect } from 'chai';
import { listAction, type ActionServices } from '../../src/actions/action.js';
import { csv, csvOfList, csvOfRows } from '../../src/actions/csv.js';
import { isNumber } from '../../src/actions/cursor.js';

describe('a CSV file', () => {
  it('has a header row, and CRLF behind every row', () => {
    expect(csv(['a', 'b'], [[1, 'x']])).to.equal('a,b\r\n1,x\r\n');
    expect(csv(['a'], [])).to.equal('a\r\n');
  });

  const cells: [string | number | bigint | null, string][] = [
    ['plain', 'plain'],
    [null, ''],
    [10n, '10'],
    [-1.5, '-1.5'],
    ['-0.25', '-0.25'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', "'=1+1"],
    ['+49', "'+49"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\r=1', '"\'\r=1"'],
    ['=cmd|"/c calc"!A1', '"\'=cmd|""/c calc""!A1"'],
  ];
  for (const [cell, written] of cells) {
    it(`writes ${JSON.stringify(String(cell))} as ${JSON.stringify(written)}`, () => {
      expect(csv(['h'], [[cell]])).to.equal(`h\r\n${written}\r\n`);
    });
  }
});

describe('CSV of rows', () => {
  it('has a column of a field, of one within another, and none of what is not there', () => {
    const rows = [{ a: 1, b: { c: 'x' } }, { a: null, b: null }, { b: 'x' }];
    expect(csvOfRows(['a', 'b.c'], rows)).to.equal('a,b.c\r\n1,x\r\n,\r\n,\r\n');
  });

  it('has words with spaces between them, and all else that is not one value as JSON', () => {
    const rows = [{ a: ['x', 'y'] }, { a: [] }, { a: [1] }, { a: { b: 1 } }, { a: ['=1'] }];
    expect(csvOfRows(['a'], rows)).to.equal(`a\r\nx y\r\n\r\n[1]\r\n"{""b"":1}"\r\n'=1\r\n`);
  });
});

describe('CSV of a list', () => {
  const READ_AT_ONCE = 100;

  /** Some numbers, the largest first. */
  function numbers(count: number, read: number[] = []) {
    return listAction({
      name: 'number list',
      rows: async (_services, _input: object, { limit, after }) => {
        const from = isNumber(after) ? after : count;
        read.push(from);
        return Array.from({ length: Math.min(limit, from) }, (_, at) => from - at - 1);
      },
      place: { of: (row) => row, is: isNumber },
      shape: (row) => ({ row }),
      csv: { file: 'numbers.csv', columns: () => ['row'] },
    });
  }

  async function piecesOf(list: Parameters<typeof csvOfList<object, number>>[0]) {
    const actor = { kind: 'cli', id: null, name: null, request_id: null } as const;
    const pieces: string[] = [];
    const caller = { actor, is_operator: true };
    for await (const piece of csvOfList(list, {} as ActionServices, {}, caller)) pieces.push(piece);
    return pieces;
  }

  for (const count of [0, 1, READ_AT_ONCE, 2 * READ_AT_ONCE + 1]) {
    it(`has each of ${count} rows once, and one head`, async () => {
      const read: number[] = [];
      const text = (await piecesOf(numbers(count, read))).join('');
      const rows = Array.from({ length: count }, (_, at) => count - at - 1);
      expect(text).to.equal(['row', ...rows, ''].join('\r\n'));
      expect(read).to.have.length(Math.floor(count / READ_AT_ONCE) + 1);
    });
  }

  it('gives other calls a turn between two pages', async () => {
    let turns = 0;
    let next = setImmediate(count);
    function count(): void {
      turns += 1;
      next = setImmediate(count);
    }
    await piecesOf(numbers(9 * READ_AT_ONCE));
    clearImmediate(next);
    expect(turns).to.be.at.least(9);
  });

  it('reads a list without places once', async () => {
    const { place: _place, ...list } = numbers(3);
    expect(await piecesOf({ ...list, rows: async () => [2, 1] })).to.deep.equal([
      'row\r\n2\r\n1\r\n',
    ]);
  });
});
