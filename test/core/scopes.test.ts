import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { isScope, SCOPES } from '../../src/core/scopes.js';

const docs = readFileSync(new URL('../../docs/management.md', import.meta.url), 'utf8');

describe('the scopes of management tokens', () => {
  it('are those that docs/management.md names, in order', () => {
    const rows = [...docs.matchAll(/^\| `([a-z-]+:[a-z]+)` +\| +(.+?) +\|$/gmu)];
    expect(rows.map(([, name]) => name)).to.deep.equal(Object.keys(SCOPES));
    for (const [, , about] of rows) expect(about).to.match(/\w/u);
  });

  it('are no words of every object', () => {
    expect(isScope('credit:write')).to.equal(true);
    for (const word of ['toString', '__proto__', 'credit', '']) {
      expect(isScope(word), word).to.equal(false);
    }
  });
});
