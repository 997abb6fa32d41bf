import { expect } from 'chai';
import { base64Of, bytesOfBase64, isDataUrl } from '../../src/lib/data-url.js';

describe('a data: URL', () => {
  it('is one of base64 only', () => {
    expect(isDataUrl('data:image/png;base64,QUJD')).to.equal(true);
    expect(isDataUrl('data:image/png,ABC')).to.equal(false);
    expect(isDataUrl('https://example.com/;base64,QUJD')).to.equal(false);
    expect(isDataUrl(undefined)).to.equal(false);
  });

  it('gives its base64 and its bytes, as plain base64 does', () => {
    for (const text of ['data:image/png;name=a;base64,QUJD', 'QUJD']) {
      expect(base64Of(text)).to.equal('QUJD');
      expect(bytesOfBase64(text).toString()).to.equal('ABC');
    }
  });
});
