import { expect } from 'chai';
import fc from 'fast-check';
import { validateHeaderValue } from 'node:http';
import { headerSafe, ignoredHeader } from '../../src/http/ignored-header.js';

describe('the header tollgate-ignored', () => {
  const NAMES: [string, string][] = [
    ['top_k', 'top_k'],
    ['messages[].cache-control', 'messages[].cache-control'],
    ['a\r\nset-cookie: b', 'a??set-cookie??b'],
    ['größe', 'gr??e'],
    ['👩', '?'],
    ['a, b', 'a??b'],
    ['x'.repeat(100), 'x'.repeat(64)],
    ['', ''],
  ];
  for (const [name, safe] of NAMES) {
    it(`writes ${JSON.stringify(name)} as ${JSON.stringify(safe)}`, () => {
      expect(headerSafe(name)).to.equal(safe);
    });
  }

  it('lists all names if they are few', () => {
    expect(ignoredHeader(['top_k', 'seed'])).to.equal('top_k, seed');
  });

  it('ends after a whole name if the names are too many', () => {
    const names = Array.from({ length: 500 }, (_, at) => `field_${at}`);
    const shown = ignoredHeader(names).split(', ');
    expect(shown.pop()).to.equal('...');
    expect(shown).to.deep.equal(names.slice(0, shown.length));
  });

  it('is a short and valid header for any names', () => {
    const all = fc.array(fc.string({ unit: 'binary', maxLength: 100 }), { maxLength: 100 });
    fc.assert(
      fc.property(all, (names) => {
        const header = ignoredHeader(names.map(headerSafe));
        expect(header.length).to.be.at.most(1_010);
        validateHeaderValue('tollgate-ignored', header);
      }),
    );
  });
});
