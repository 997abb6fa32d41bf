import { expect } from 'chai';
import { isAllowed, lowerAddress } from '../../src/config/allow-list.js';

describe('the addresses of the sign-in allow list', () => {
  it('are compared in ASCII lower case only', () => {
    expect(isAllowed('Kate@Example.ORG', ['kate@example.org'])).to.equal(true);
    expect(isAllowed('x@EXAMPLE.org', ['@example.org'])).to.equal(true);
    expect(isAllowed('\u212Aate@example.org', ['kate@example.org'])).to.equal(false);
    expect(isAllowed('x@\u212Aelvin.org', ['@kelvin.org'])).to.equal(false);
    expect(isAllowed('x@\u0130stanbul.org', ['@istanbul.org', '@i\u0307stanbul.org'])).to.equal(
      false,
    );
  });

  it('keep every character beyond ASCII as it is', () => {
    expect(lowerAddress('ABCxyz\u212A\u0130\u00C4')).to.equal('abcxyz\u212A\u0130\u00C4');
  });
});
