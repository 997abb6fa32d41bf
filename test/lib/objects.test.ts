import { expect } from 'chai';
import { memoizeByObject } from '../../src/lib/objects.js';

describe('an answer worked out once per object', () => {
  it('is made once for each object, also where it is undefined', () => {
    const asked: object[] = [];
    const first = { name: 'first' };
    const second = { name: 'second' };
    const nameOf = memoizeByObject((key: { name: string }) => {
      asked.push(key);
      return key.name === 'first' ? key.name : undefined;
    });
    expect([first, second, first, second].map(nameOf)).to.deep.equal([
      'first',
      undefined,
      'first',
      undefined,
    ]);
    expect(asked).to.deep.equal([first, second]);
  });
});
