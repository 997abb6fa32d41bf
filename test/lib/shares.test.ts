import { expect } from 'chai';
import { shares } from '../../src/lib/shares.js';

describe('shares of a total', () => {
  it('are as large as they may be, and add up', () => {
    expect(shares(10, 4)).to.deep.equal([4, 4, 2]);
    expect(shares(4, 4)).to.deep.equal([4]);
    expect(shares(3, 1)).to.deep.equal([1, 1, 1]);
  });
});
