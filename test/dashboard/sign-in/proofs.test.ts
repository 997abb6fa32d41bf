import { expect } from 'chai';
import { proofsOf } from '../../../src/dashboard/sign-in/proofs.js';

describe('the proofs of a sign-in', () => {
  const proofs = proofsOf('a'.repeat(43));

  it('are three, of one secret, and do not tell it', () => {
    const all = Object.values(proofs);
    expect(new Set(all)).to.have.property('size', 3);
    for (const proof of all) expect(proof).to.match(/^[\w-]{43}$/u);
    expect(proofsOf('a'.repeat(43))).to.deep.equal(proofs);
    expect(Object.values(proofsOf('b'.repeat(43)))).not.to.include.members([proofs.state]);
  });
});
