import { expect } from 'chai';
import { oncePer } from '../../src/lib/once-per.js';

describe('an answer worked out once per object', () => {
  it('is made once for each object, also where it is undefined', () => {
    const asked: object[] = [];
    const first = { name: 'first' };
    const second = { name: 'second' };
    const nameOf = oncePer((key: { name: string }) => {
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
