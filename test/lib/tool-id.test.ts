import { expect } from 'chai';
import { plainId, signatureOf, signedId } from '../../src/lib/tool-id.js';

describe('a tool call id that carries a signature', () => {
  const signatures = ['QUJD', 'QUI=', 'QQ==', 'a+/b', 'sig_1', 'with spaces, and ünicode', '~ts~'];

  for (const signature of signatures) {
    it(`gives back the signature ${signature} exactly`, () => {
      const id = signedId('call_1', signature);
      expect(signatureOf(id)).to.equal(signature);
      expect(plainId(id)).to.equal('call_1');
    });
  }

  it('keeps to letters that no client escapes in an id', () => {
    expect(signedId('call_1', 'a+/bcA==')).to.equal('call_1~ts~a-_bcA');
  });

  it('leaves an id without a signature as it is', () => {
    expect(plainId('toolu_1')).to.equal('toolu_1');
    expect(signatureOf('toolu_1')).to.equal(undefined);
    expect(signatureOf('toolu_1~ts~')).to.equal(undefined);
  });

  it('strips everything after the mark', () => {
    expect(plainId('a~ts~b')).to.equal('a');
    expect(plainId('a~ts~b~ts~c')).to.equal('a');
  });
});
