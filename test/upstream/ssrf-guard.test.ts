import { expect } from 'chai';
import { isPublic, lookupPublic, assertPublic } from '../../src/upstream/ssrf-guard.js';
import { createNetwork } from '../../src/upstream/network.js';
import { providerAt, startUpstream } from '../helpers/upstream.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

const PRIVATE = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  'fc00::1',
  'fe80::1',
  'ff02::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'localhost',
  '',
  '168.63.129.16',
  '64:ff9b::a83f:8110',
  '64:ff9b:1::808:808',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2002:808:808::1',
  '::127.0.0.1',
  'fec0::1',
  '192.31.196.1',
  '5f00::1',
  '4000::1',
];
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '64:ff9b::808:808',
];

/** Ways to write 127.0.0.1 and its like in a URL. */
const WRITTEN = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://169.254.169.254/latest/meta-data',
  'http://localhost/',
  'http://db.internal./',
  'http://168.63.129.16/',
];

describe('the SSRF guard', () => {
  for (const address of PRIVATE) {
    it(`takes ${address || 'an empty address'} for private`, () => {
      expect(isPublic(address)).to.equal(false);
    });
  }
  for (const address of PUBLIC) {
    it(`takes ${address} for public`, () => {
      expect(isPublic(address)).to.equal(true);
    });
  }
  for (const url of WRITTEN) {
    it(`finds the private address in ${url}`, () => {
      expect(() => assertPublic(url)).to.throw(UpstreamError, 'not public');
    });
  }

  it('refuses a host name that resolves to a private address', async () => {
    const error = await new Promise((resolve) => lookupPublic('localhost', {}, resolve));
    expect(error).to.be.instanceOf(UpstreamError);
  });
});

describe('a request to an address that an upstream chose', () => {
  it('never reaches a private address or a private name', async () => {
    const inside = await startUpstream({ body: 'secret' });
    const network = createNetwork({ connections: 1, idle_ms: 30_000 });
    const provider = providerAt('http://127.0.0.1:9');
    try {
      for (const url of [inside.url, inside.url.replace('127.0.0.1', 'localhost')]) {
        const wire = { method: 'GET', path: `${url}/`, headers: {}, body: undefined } as const;
        const { signal } = new AbortController();
        const asking = network.send(provider, wire, signal);
        const error: unknown = await asking.catch((reason: unknown) => reason);
        expect(error, url).to.be.instanceOf(UpstreamError);
        expect(error, url).to.include({ fault: 'broken' });
      }
      expect(inside.sockets).to.equal(0);
    } finally {
      await network.close();
      await inside.close();
    }
  });
});
