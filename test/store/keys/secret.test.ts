import { expect } from 'chai';
import { isWellFormed, makeSecret, randomText, sha256 } from '../../../src/store/keys/secret.js';

describe('the secret of an API key', () => {
  it('makes a different well-formed key each time', () => {
    const secrets = Array.from({ length: 200 }, makeSecret);
    expect(new Set(secrets).size).to.equal(200);
    for (const secret of secrets) {
      expect(secret).to.match(/^tg-[0-9A-Za-z]{42}$/);
      expect(isWellFormed(secret)).to.equal(true);
    }
  });

  it('notices any single character that is changed', () => {
    const secret = makeSecret();
    for (let place = 0; place < secret.length; place++) {
      const other = secret[place] === 'a' ? 'b' : 'a';
      const changed = secret.slice(0, place) + other + secret.slice(place + 1);
      expect(isWellFormed(changed), changed).to.equal(false);
    }
  });

  for (const text of ['', 'tg-', 'sk-abc', `tg-${'0'.repeat(42)} `, 'tg-é'.padEnd(45, '0')]) {
    it(`does not take ${JSON.stringify(text)} for a key`, () => {
      expect(isWellFormed(text)).to.equal(false);
    });
  }

  it('has a known checksum, so that keys of older versions stay well-formed', () => {
    const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
    expect(isWellFormed(`tg-${digits}4e3v2s`)).to.equal(false);
    expect(isWellFormed(`tg-${digits}4e3v2r`)).to.equal(true);
  });

  it('hashes as SHA-256 in hexadecimal', () => {
    expect(sha256('abc')).to.equal(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('uses all 62 characters in random text', () => {
    expect(new Set(randomText(10_000)).size).to.equal(62);
  });
});
