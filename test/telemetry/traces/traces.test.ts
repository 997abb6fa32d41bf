import { expect } from 'chai';
import { requestId } from '../../../src/gateway/router.js';
import { isSampled } from '../../../src/telemetry/traces/traces.js';
import { ask } from '../../helpers/ask.js';
import { startCollector, type Collector, type ReceivedSpan } from '../../helpers/collector.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import {
  chatJson,
  chatSse,
  play,
  startUpstream,
  type FakeUpstream,
} from '../../helpers/upstream.js';

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
/** Far above the time that a shutdown gives to the last spans, far below a wait without end. */
const STOP_MS = 30_000;

const yaml = (traces: string, good: string, bad: string): string => `traces: ${traces}
owners: { acme: { name: Acme } }
providers:
  good: { uses: openai, base_url: '${good}', api_key: sk-up }
  bad: { uses: openai, base_url: '${bad}', api_key: sk-up }
models:
  acme/one: { owner: acme, capabilities: [chat], upstreams: [{ provider: bad, model: m-bad }, { provider: good, model: m-1 }], price: { input_per_million: 1000, output_per_million: 2000 } }
  acme/bad: { owner: acme, capabilities: [chat], upstreams: [{ provider: bad }], price: free }
`;

describe('traces', () => {
  let good: FakeUpstream;
  let bad: FakeUpstream;
  let collector: Collector;
  let gateway: TestGateway;
  let isOpen = false;

  before(async () => {
    good = await startUpstream(async ({ json }, response) => {
      const streamed = (json as { stream?: boolean }).stream === true;
      await play(streamed ? chatSse(['a', 'b']) : chatJson('spoken words'), response);
    });
    bad = await startUpstream({ status: 500, body: '{"error":{"message":"bad words"}}' });
  });
  after(() => Promise.all([good.close(), bad.close()]));

  const start = async (options: { more?: string; url?: string } = {}): Promise<void> => {
    const url = options.url ?? `${collector.url}/v1/traces`;
    const traces = `{ otlp: '${url}', headers: { authorization: Bearer c-key }${options.more ?? ''} }`;
    gateway = await startGateway(yaml(traces, good.url, bad.url));
    isOpen = true;
  };
  /** Sends what waits. */
  const stop = async (): Promise<void> => {
    if (isOpen) await gateway.close();
    isOpen = false;
  };
  beforeEach(async () => {
    collector = await startCollector();
  });
  afterEach(async () => {
    await stop();
    await collector.close();
  });

  const chat = (model: string, more: object = {}, headers: Record<string, string> = {}) => {
    const messages = [{ role: 'user', content: 'asked words' }];
    const body = JSON.stringify({ model, messages, max_tokens: 20, ...more });
    const all = { 'content-type': 'application/json', ...headers };
    return ask(gateway, '/v1/chat/completions', { method: 'POST', headers: all, body });
  };
  const ofKind = (kind: number): ReceivedSpan[] =>
    collector.spans().filter((span) => span.kind === kind);

  it('tell of a request, and of each call to an upstream below it', async () => {
    await start();
    await chat('acme/one');
    const account = gateway.account.id;
    await stop();
    const [server] = ofKind(SERVER);
    const clients = ofKind(CLIENT);
    expect(collector.spans()).to.have.length(1 + clients.length);
    expect(server?.name).to.equal('chat acme/one');
    expect(server?.attributes).to.deep.include({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'acme/one',
      'gen_ai.response.model': 'm-1',
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 5,
      'http.response.status_code': 200,
      'tollgate.account': account,
      'tollgate.endpoint': 'chat',
      'tollgate.streamed': false,
      'tollgate.flags': ['fallback', 'moved'],
    });
    expect(server?.attributes).not.to.have.any.keys('error.type');
    expect(server?.attributes['tollgate.cost_dollars']).to.be.closeTo(0.019, 1e-9);
    expect(server?.attributes['tollgate.hold_dollars']).to.be.greaterThan(0.04);
    const last = clients.at(-1);
    expect(last?.name).to.equal('chat m-1');
    expect(last?.attributes).to.deep.include({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm-1',
      'gen_ai.usage.input_tokens': 9,
      'tollgate.provider': 'good',
    });
    const failed = clients.filter(({ name }) => name === 'chat m-bad');
    expect(failed).not.to.have.length(0);
    for (const { attributes, status } of failed) {
      expect(attributes).to.deep.include({
        'error.type': 'broken',
        'http.response.status_code': 500,
        'tollgate.provider': 'bad',
      });
      expect(attributes).not.to.have.any.keys('gen_ai.usage.input_tokens');
      expect(status.code).to.equal(ERROR);
    }
    for (const { traceId, parentSpanId, startTimeUnixNano, endTimeUnixNano } of clients) {
      expect(traceId).to.equal(server?.traceId);
      expect(parentSpanId).to.equal(server?.spanId);
      expect(Number(startTimeUnixNano)).to.be.at.least(Number(server?.startTimeUnixNano));
      expect(Number(endTimeUnixNano)).to.be.at.most(Number(server?.endTimeUnixNano) + 1e6);
      expect(Number(endTimeUnixNano)).to.be.at.least(Number(startTimeUnixNano));
    }
    expect(collector.resources()[0]).to.deep.include({ 'service.name': 'tollgate' });
    expect(collector.requests[0]).to.deep.include({ method: 'POST', path: '/v1/traces' });
    expect(collector.requests[0]?.headers.authorization).to.equal('Bearer c-key');
  });

  it('tell of errors by their codes, and of streams', async () => {
    await start();
    await chat('acme/bad');
    await chat('acme/one', { stream: true });
    await chat('acme/none');
    await stop();
    const [bad_one, stream, unknown] = ofKind(SERVER);
    expect(bad_one?.attributes).to.deep.include({
      'error.type': 'upstream_error',
      'http.response.status_code': 502,
    });
    expect(bad_one?.status.code).to.equal(ERROR);
    expect(stream?.attributes).to.deep.include({
      'tollgate.streamed': true,
      'gen_ai.usage.output_tokens': 2,
    });
    expect(stream?.attributes['tollgate.time_to_first_token_ms']).to.be.greaterThan(0);
    expect(unknown?.name).to.equal('chat');
    expect(unknown?.attributes).to.deep.include({
      'error.type': 'model_not_found',
      'http.response.status_code': 400,
    });
    expect(unknown?.status.code).not.to.equal(ERROR);
  });

  it('hold nothing that was said, and no key', async () => {
    await start();
    await chat('acme/one');
    await chat('acme/one', { stream: true });
    await chat('acme/bad');
    await stop();
    expect(collector.spans()).to.have.length.greaterThan(3);
    for (const { body } of collector.requests) {
      for (const words of ['asked words', 'spoken words', 'bad words', gateway.secret, 'sk-up']) {
        expect(body).not.to.include(words);
      }
    }
  });

  it("continue the client's own trace", async () => {
    await start();
    const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    await chat('acme/bad', {}, { traceparent: `00-${trace}-${span}-00` });
    await stop();
    expect(ofKind(SERVER)[0]).to.deep.include({ traceId: trace, parentSpanId: span });
    expect(ofKind(CLIENT)[0]?.traceId).to.equal(trace);
  });

  for (const [what, traceparent] of [
    ['has no form', 'x'.repeat(4_000)],
    ['is all zeros', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`],
    ['has more to it', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01-more`],
  ] as const) {
    it(`begin a trace of their own where traceparent ${what}`, async () => {
      await start();
      const { status } = await chat('acme/bad', {}, { traceparent });
      expect(status).to.equal(502);
      await stop();
      const [server] = ofKind(SERVER);
      expect(server?.traceId)
        .to.match(/^[0-9a-f]{32}$/u)
        .and.not.to.match(/^(a{32}|0{32})$/u);
      expect(server?.parentSpanId ?? '').to.equal('');
    });
  }

  it('are a sample, whatever clients say', async () => {
    await start({ more: ', sample: 0' });
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    await chat('acme/bad', {}, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    await chat('acme/bad');
    await stop();
    expect(collector.requests).to.deep.equal([]);
  });

  it('are not all sent because a client chose the ID of its trace', async () => {
    await start({ more: ', sample: 0.000001' });
    await chat('acme/bad', {}, { traceparent: `00-${'0'.repeat(31)}1-00f067aa0ba902b7-01` });
    await stop();
    expect(collector.requests).to.deep.equal([]);
  });

  it('are as many as the sample says', () => {
    const ids = Array.from({ length: 4_000 }, (_, at) => requestId(1_800_000_000_000 + at));
    for (const [sample, least, most] of [
      [0, 0, 0],
      [0.5, 1_700, 2_300],
      [1, 4_000, 4_000],
    ] as const) {
      expect(ids.filter((id) => isSampled(id, sample)).length).to.be.within(least, most);
    }
  });

  it('slow no call where the collector is gone, or never answers', async () => {
    await start({ url: 'http://127.0.0.1:9/v1/traces' });
    for (let call = 0; call < 5; call += 1) expect((await chat('acme/one')).status).to.equal(200);
    let began = performance.now();
    await stop();
    expect(performance.now() - began).to.be.lessThan(STOP_MS);
    await collector.close();
    collector = await startCollector(() => undefined);
    await start();
    for (let call = 0; call < 5; call += 1) expect((await chat('acme/one')).status).to.equal(200);
    began = performance.now();
    await stop();
    expect(performance.now() - began).to.be.lessThan(STOP_MS);
    expect(collector.requests).to.have.length.greaterThan(0);
  });
});
