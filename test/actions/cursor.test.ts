import { expect } from 'chai';
import {
  isMoment,
  isName,
  isNumber,
  pageOf,
  readCursor,
  writeCursor,
} from '../../src/actions/cursor.js';
import { GatewayError } from '../../src/core/errors.js';

describe('the cursor of a page', () => {
  it('leads back to the place that it was made of', () => {
    expect(readCursor(writeCursor(7), isNumber)).to.equal(7);
    expect(readCursor(writeCursor('Zoë 🌍'), isName)).to.equal('Zoë 🌍');
    expect(readCursor(writeCursor([5, 'id']), isMoment)).to.deep.equal([5, 'id']);
  });

  const strange = ['', '!', 'x'.repeat(5_000), writeCursor('7'), writeCursor(-1), writeCursor(0.5)];
  for (const word of strange) {
    it(`cannot be ${word.slice(0, 20) || 'empty'}`, () => {
      expect(() => readCursor(word, isNumber))
        .to.throw(GatewayError)
        .with.property('param', 'cursor');
    });
  }

  it('holds no character that a store could not look for', () => {
    expect(() => readCursor(writeCursor('a\0b'), isName)).to.throw(GatewayError);
    expect(() => readCursor(writeCursor([1, 'a\0b']), isMoment)).to.throw(GatewayError);
    expect(() => readCursor(writeCursor([1, 'a', 'b']), isMoment)).to.throw(GatewayError);
  });

  it('is there only where another page follows', () => {
    const place = (row: number): number => row;
    expect(pageOf([9, 8, 7], 2, place)).to.deep.equal({
      rows: [9, 8],
      next_cursor: writeCursor(8),
    });
    expect(pageOf([9, 8], 2, place)).to.deep.equal({ rows: [9, 8], next_cursor: null });
    expect(pageOf([], 2, place)).to.deep.equal({ rows: [], next_cursor: null });
  });
});
