import { expect } from 'chai';
import { formatCell } from '../../src/cli/print-rows.js';

describe('a cell of a table', () => {
  it('is a word for what is no text', () => {
    expect(
      [null, true, false, 12, ['a', 'b'], { max_tokens: 3, n: 1 }].map(formatCell),
    ).to.deep.equal(['-', 'yes', 'no', '12', 'a, b', 'max tokens 3, n 1']);
  });

  it('gives a terminal no order that an upstream or a customer has written', () => {
    for (const order of ['\u001b]0;title\u0007', '\u009b2J', '\u202e', '\u061c', '\u0008']) {
      for (const cell of [`a ${order}b`, [order], { error: order }]) {
        // oxlint-disable-next-line no-control-regex
        expect(formatCell(cell)).not.to.match(/[\u0000-\u001f\u007f-\u009f\u061c\u202e]/u);
      }
    }
    expect(formatCell('one\n\ttwo  é')).to.equal('one two é');
  });
});
