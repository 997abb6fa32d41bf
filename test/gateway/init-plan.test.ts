import { expect } from 'chai';
import { freePort, type Findings } from '../../src/gateway/init-plan.js';

function found(...urls: string[]): Findings['providers'] {
  const rest = { title: '', entry: [], variables: [], unset: [], models: [], omitted: 0 };
  return urls.map((base_url) => ({ name: base_url, uses: base_url, base_url, ...rest }));
}

function missed(...urls: (string | null)[]): Findings['missed'] {
  return urls.map((busy_url) => ({ name: '', title: '', reason: '', busy_url }));
}

describe('the port of a first gateway.yaml', () => {
  it('is 8080, unless a server of models or anything else answers there', () => {
    const there = 'http://127.0.0.1:8080/v1';
    const next = 'http://127.0.0.1:8081/v1';
    expect(freePort({ providers: [], missed: missed(null) })).to.equal(8080);
    expect(freePort({ providers: found(there), missed: [] })).to.equal(8081);
    expect(freePort({ providers: [], missed: missed(there) })).to.equal(8081);
    expect(freePort({ providers: found(next), missed: missed(there) })).to.equal(8082);
  });
});
