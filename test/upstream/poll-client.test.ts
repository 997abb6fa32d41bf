import { expect } from 'chai';
import { ReplyTooLarge } from '../../src/upstream/reply-body.js';
import { createPollClient, type PollClient } from '../../src/upstream/poll-client.js';
import { createNetwork } from '../../src/upstream/network.js';
import type { Network } from '../../src/upstream/network-types.js';
import type { Provider, WireRequest } from '../../src/core/provider.js';
import { providerAt, startUpstream, type FakeUpstream, type Step } from '../helpers/upstream.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

const LIMIT_BYTES = 1_000;
const ASK: WireRequest = { method: 'GET', path: '/tasks/1?x=1', headers: {}, body: undefined };
const KEY = { authorization: 'Bearer k' };

describe('PollClient', () => {
  let network: Network;
  let control: PollClient;
  const open: FakeUpstream[] = [];
  beforeEach(() => {
    network = createNetwork({ connections: 4, idle_ms: 30_000 });
    control = createPollClient(network);
  });
  afterEach(async () => {
    control.close();
    await network.close();
    for (const upstream of open.splice(0)) await upstream.close();
  });

  async function at(step: Step, more: Partial<Provider> = {}) {
    const upstream = await startUpstream(step);
    open.push(upstream);
    return {
      upstream,
      provider: providerAt(`${upstream.url}/v1?key=7`, { headers: KEY, ...more }),
    };
  }

  async function faultOf(provider: Provider, request = ASK): Promise<string> {
    try {
      await control.ask(provider, request, LIMIT_BYTES);
    } catch (error) {
      if (error instanceof UpstreamError) return error.fault;
      throw error;
    }
    throw new Error('The question was answered.');
  }

  for (const status of [200, 202, 302, 404, 422, 500, 503]) {
    it(`passes a ${status} on, and asks once`, async () => {
      const headers = { location: '/elsewhere', 'x-y': 'z' };
      const { upstream, provider } = await at({ status, headers, body: 'text' });
      const answer = await control.ask(provider, ASK, LIMIT_BYTES);
      expect([answer.status, answer.text]).to.deep.equal([status, 'text']);
      expect(answer.headers['x-y']).to.equal('z');
      expect(upstream.requests.map(({ path }) => path)).to.deep.equal(['/v1/tasks/1?x=1&key=7']);
      expect(upstream.requests[0]?.headers.authorization).to.equal('Bearer k');
    });
  }

  it('sends a body', async () => {
    const { upstream, provider } = await at({});
    const headers = { 'content-type': 'application/json' };
    await control.ask(provider, { ...ASK, method: 'POST', headers, body: '{"a":1}' }, LIMIT_BYTES);
    expect(upstream.requests[0]).to.deep.include({ method: 'POST', json: { a: 1 } });
  });

  it('sends credentials to the origin of the provider only', async () => {
    const { upstream: other } = await at({});
    const wire = { image_hosts: [new URL(other.url).host] };
    const { upstream, provider } = await at({}, { wire });
    await control.ask(provider, { ...ASK, path: `${upstream.url}/own` }, LIMIT_BYTES);
    await control.ask(provider, { ...ASK, credentials: false }, LIMIT_BYTES);
    await control.ask(
      provider,
      { ...ASK, path: `${other.url}/far`, credentials: true },
      LIMIT_BYTES,
    );
    const sent = [...upstream.requests, ...other.requests];
    expect(sent.map(({ headers }) => headers.authorization)).to.deep.equal([
      'Bearer k',
      undefined,
      undefined,
    ]);
    expect(sent[0]?.path).to.equal('/own');
  });

  it('reports an answer that is too large, or none, as broken', async () => {
    const large = await at({ chunks: Array.from({ length: 20 }, () => 'x'.repeat(200)) });
    expect(await faultOf(large.provider)).to.equal('broken');
    const none = await at({ destroyAfter: -1 });
    expect(await faultOf(none.provider)).to.equal('broken');
  });

  it('times out while it waits for an answer, and in the midst of one', async () => {
    const timeouts = { connect_ms: 5_000, first_byte_ms: 50, idle_ms: 50, total_ms: 10_000 };
    const { provider } = await at({ hold: new Promise(() => undefined) }, { timeouts });
    expect(await faultOf(provider)).to.equal('timeout');
    const stalled = { ...timeouts, total_ms: 100 };
    const slow = await at({ chunks: ['x', new Promise(() => undefined)] }, { timeouts: stalled });
    expect(await faultOf(slow.provider)).to.equal('timeout');
  });

  it('names the phase that took too long, as a call does', async () => {
    const timeouts = { connect_ms: 5_000, first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 5_000 };
    const reason = async (step: Step, short: Partial<typeof timeouts>): Promise<string> => {
      const { provider } = await at(step, { timeouts: { ...timeouts, ...short } });
      return control.ask(provider, ASK, LIMIT_BYTES).then(String, String);
    };
    const never = new Promise<never>(() => undefined);
    expect(await reason({ hold: never }, { first_byte_ms: 50 })).to.equal(
      'UpstreamError: The upstream sent no answer within 50 ms (first_byte).',
    );
    expect(await reason({ chunks: ['x', never] }, { idle_ms: 50 })).to.equal(
      'UpstreamError: The upstream fell silent within 50 ms (idle).',
    );
    expect(await reason({ chunks: ['x', never] }, { total_ms: 100 })).to.equal(
      'UpstreamError: The upstream did not finish its answer within 100 ms (total).',
    );
  });

  it('classifies a failed connection as an upstream call does', async () => {
    const none = await at({ destroyAfter: -1 });
    expect(await control.ask(none.provider, ASK, LIMIT_BYTES).then(String, String)).to.equal(
      'UpstreamError: The upstream closed the connection without an answer.',
    );
  });

  it('reports an answer from inside the process that is too large', async () => {
    const body = (async function* () {
      yield Buffer.alloc(LIMIT_BYTES + 1);
    })();
    const answer = async () => ({ status: 200, headers: {}, body });
    const provider = providerAt('', { local: { answer, settings: {} } });
    const fault = await control.ask(provider, ASK, LIMIT_BYTES).catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(ReplyTooLarge);
  });

  it('reports a closed port as unreachable', async () => {
    const { upstream, provider } = await at({});
    await upstream.close();
    open.pop();
    expect(await faultOf(provider)).to.equal('unreachable');
  });

  it('asks an upstream inside the process', async () => {
    const body = (async function* () {
      yield Buffer.from('here');
    })();
    const answer = async () => ({ status: 200, headers: { a: 'b' }, body });
    const provider = providerAt('', { local: { answer, settings: {} } });
    expect(await control.ask(provider, ASK, LIMIT_BYTES)).to.deep.equal({
      status: 200,
      headers: { a: 'b' },
      text: 'here',
    });
  });
});
