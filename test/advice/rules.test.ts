import { expect } from 'chai';
import { ADVICE } from '../../src/advice/index.js';

describe('the rules of advice', () => {
  it('are forty at most, each with the money, the secret or the hour that it saves', () => {
    expect(ADVICE.length).to.be.at.most(40);
    for (const { code, saves } of ADVICE) expect(saves, code).to.match(/^[a-z].{10,89}[^.]$/i);
    expect(new Set(ADVICE.map(({ saves }) => saves)).size).to.equal(ADVICE.length);
  });
});
