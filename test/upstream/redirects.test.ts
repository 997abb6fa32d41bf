import { expect } from 'chai';
import type { Provider, WireRequest } from '../../src/core/provider.js';
import { createNetwork } from '../../src/upstream/network.js';
import type { Network } from '../../src/upstream/network-types.js';
import { readBytes } from '../../src/upstream/upstream-request.js';
import { followRedirects } from '../../src/upstream/redirects.js';
import { providerAt, startUpstream, type FakeUpstream, type Step } from '../helpers/upstream.js';

const ASK: WireRequest = {
  method: 'GET',
  path: '/file',
  headers: { 'x-own': '1' },
  body: undefined,
};
const KEY = { authorization: 'Bearer k' };

describe('followRedirects', () => {
  let network: Network;
  const open: FakeUpstream[] = [];

  beforeEach(() => {
    network = createNetwork({ connections: 4, idle_ms: 30_000 });
  });
  afterEach(async () => {
    await network.close();
    for (const upstream of open.splice(0)) await upstream.close();
  });

  async function start(...steps: Step[]): Promise<FakeUpstream> {
    const upstream = await startUpstream(steps);
    open.push(upstream);
    return upstream;
  }

  async function fetched(provider: Provider, request = ASK): Promise<string> {
    const download = { noun: 'the file', total_ms: 5_000, headers: { accept: 'file/*' } };
    const { signal } = new AbortController();
    const answer = await followRedirects(request, provider, download, network, signal);
    return (await readBytes(answer, 1_000)).toString();
  }

  it('keeps credentials and headers to the origin of the provider', async () => {
    const other = await start({ body: 'far' });
    const own = await start(
      { status: 302, headers: { location: '/again' } },
      { status: 302, headers: { location: `${other.url}/far` } },
    );
    const wire = { image_hosts: [new URL(other.url).host] };
    expect(await fetched(providerAt(own.url, { headers: KEY, wire }))).to.equal('far');
    const sent = [...own.requests, ...other.requests].map(({ path, headers }) => [
      path,
      headers.authorization,
      headers['x-own'],
      headers.accept,
    ]);
    expect(sent).to.deep.equal([
      ['/file', 'Bearer k', '1', 'file/*'],
      ['/again', 'Bearer k', '1', 'file/*'],
      ['/far', undefined, undefined, 'file/*'],
    ]);
  });

  it('repeats a body for 307 and 308 only', async () => {
    const post = { ...ASK, method: 'POST', body: '{}' } as const;
    const own = await start(
      { status: 307, headers: { location: '/one' } },
      { status: 303, headers: { location: '/two' } },
      { body: 'here' },
    );
    expect(await fetched(providerAt(own.url), post)).to.equal('here');
    expect(own.requests.map(({ method }) => method)).to.deep.equal(['POST', 'POST', 'GET']);
  });

  for (const location of ['file:///etc/passwd', 'http://user:word@example.com/', undefined]) {
    it(`goes nowhere for the location ${location}`, async () => {
      const headers: Record<string, string> = location === undefined ? {} : { location };
      const own = await start({ status: 302, headers });
      const fault = await fetched(providerAt(own.url)).catch(String);
      expect(fault).to.equal('UpstreamError: The upstream redirected the file to nowhere.');
    });
  }

  it('gives up a chain that is too long', async () => {
    const own = await start(
      ...Array.from({ length: 9 }, () => ({ status: 302, headers: { location: '/again' } })),
    );
    const fault = await fetched(providerAt(own.url)).catch(String);
    expect(fault).to.equal('UpstreamError: The upstream redirected the file too often.');
    expect(own.requests).to.have.length(6);
  });
});
