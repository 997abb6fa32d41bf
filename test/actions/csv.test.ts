import { expect } from 'chai';
import { csv } from '../../src/actions/csv.js';

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
