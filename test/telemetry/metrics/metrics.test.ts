import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { checkOrThrow } from '../../../src/gateway/gateway.js';
import { serveMetrics, type MetricsServer } from '../../../src/gateway/metrics-server.js';
import { ask } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { scrape, type Scrape } from '../../helpers/prometheus.js';
import { openSocket } from '../../helpers/socket-client.js';
import { until } from '../../helpers/until.js';
import {
  chatJson,
  chatSse,
  play,
  startUpstream,
  type FakeUpstream,
} from '../../helpers/upstream.js';

const PRICE = '{ input_per_million: 1000, output_per_million: 2000 }';

function yaml(good: string, bad: string): string {
  return `metrics: 127.0.0.1:0
owners: { acme: { name: Acme } }
providers:
  good: { uses: openai, base_url: '${good}', api_key: sk-up }
  bad: { uses: openai, base_url: '${bad}', api_key: sk-up }
models:
  acme/one: { owner: acme, capabilities: [chat], upstreams: [{ provider: good }], price: ${PRICE} }
  acme/two: { owner: acme, capabilities: [chat], upstreams: [{ provider: bad }, { provider: good }], price: free }
  acme/bad: { owner: acme, capabilities: [chat], upstreams: [{ provider: bad }], price: free }
`;
}

describe('metrics', () => {
  let good: FakeUpstream;
  let bad: FakeUpstream;
  let gateway: TestGateway;
  let server: MetricsServer;
  let held: Promise<void> | undefined;

  beforeEach(async () => {
    held = undefined;
    good = await startUpstream(async ({ json }, response) => {
      await held;
      const streamed = (json as { stream?: boolean }).stream === true;
      await play(streamed ? chatSse(['a', 'b', 'c']) : chatJson('hello'), response);
    });
    bad = await startUpstream({ status: 500, body: '{}' });
    gateway = await startGateway(yaml(good.url, bad.url));
    const { metrics } = gateway.gateway.views;
    if (!metrics) throw new Error('The metrics are off.');
    const address = gateway.gateway.configuration.metrics ?? { host: '', port: 0 };
    server = await serveMetrics(address, () => metrics.text(), pino({ level: 'silent' }));
  });
  afterEach(async () => {
    await server.close();
    await gateway.close();
    await Promise.all([good.close(), bad.close()]);
  });

  const chat = (model: string, more: object = {}) => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const body = JSON.stringify({ model, messages, max_tokens: 20, ...more });
    const headers = { 'content-type': 'application/json' };
    return ask(gateway, '/v1/chat/completions', { method: 'POST', headers, body });
  };
  const metrics = (): Promise<Scrape> => scrape(`http://127.0.0.1:${server.address.port}/metrics`);

  it('counts requests as their clients do', async () => {
    for (let call = 0; call < 3; call += 1) await chat('acme/one');
    for (let call = 0; call < 2; call += 1) await chat('acme/one', { stream: true });
    await chat('acme/two');
    await chat('acme/bad');
    await chat('acme/none');
    const found = await metrics();
    const requests = (labels: Record<string, string>) =>
      found.sum('tollgate_requests_total', labels);
    expect(requests({ model: 'acme/one', provider: 'good', status: '200', code: '' })).to.equal(5);
    expect(requests({ model: 'acme/two', provider: 'good', status: '200' })).to.equal(1);
    expect(requests({ model: 'acme/bad', status: '502', code: 'upstream_error' })).to.equal(1);
    expect(requests({ model: '', provider: '', code: 'model_not_found' })).to.equal(1);
    expect(requests({})).to.equal(8);
    const attempts = (provider: string, fault: string) =>
      found.sum('tollgate_upstream_attempts_total', { provider, fault });
    expect(attempts('good', 'none')).to.equal(good.requests.length).and.to.equal(6);
    expect(found.sum('tollgate_upstream_attempts_total', { provider: 'bad' })).to.equal(
      bad.requests.length,
    );
    expect(attempts('bad', 'none')).to.equal(undefined);
    expect(found.sum('tollgate_request_duration_seconds_count')).to.equal(8);
    expect(found.sum('tollgate_gateway_overhead_seconds_count')).to.equal(8);
    const firsts = 'tollgate_time_to_first_token_seconds_count';
    expect(found.sum(firsts, { model: 'acme/one' })).to.equal(2);
    expect(found.sum(firsts)).to.equal(2);
  });

  it('counts tokens and dollars as the ledger does', async () => {
    for (let call = 0; call < 3; call += 1) await chat('acme/one');
    await chat('acme/one', { stream: true });
    const found = await metrics();
    const tokens = (name: string) =>
      found.sum('tollgate_tokens_total', { model: 'acme/one', class: name });
    expect(tokens('prompt')).to.equal(4 * 9);
    expect(tokens('completion')).to.equal(3 * 5 + 3);
    const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 100 });
    const charged = rows.filter(({ kind }) => kind === 'charge');
    const dollars = charged.reduce((sum, { amount_nano }) => sum - Number(amount_nano), 0) / 1e9;
    expect(found.sum('tollgate_cost_dollars_total', { model: 'acme/one' })).to.be.closeTo(
      dollars,
      1e-9,
    );
    expect(dollars).to.be.closeTo((4 * 9 * 1000 + 18 * 2000) / 1e6, 1e-9);
  });

  it('shows nothing uncollected before the first loss, so that an alert sees it rise', async () => {
    const before = await metrics();
    const lost = (found: Scrape, model: string) =>
      found.sum('tollgate_uncollected_dollars_total', { model });
    expect(lost(before, 'acme/one')).to.equal(0);
    expect(lost(before, 'acme/bad'), 'of a free model').to.equal(undefined);
    const file = yaml(good.url, bad.url).replace('acme/one', 'acme/new');
    const head = 'listen: 127.0.0.1:0\nstore: sqlite:tollgate.db\n';
    await writeFile(gateway.file, `${head}${file}`);
    gateway.gateway.reload(await checkOrThrow(gateway.file, {}));
    expect(lost(await metrics(), 'acme/new')).to.equal(0);
  });

  it('counts what an account could not pay', async () => {
    const huge = { prompt_tokens: 20_000, completion_tokens: 5, total_tokens: 20_005 };
    await good.close();
    good = await startUpstream(chatJson('hello', { usage: huge }));
    await writeFile(
      gateway.file,
      `listen: 127.0.0.1:0\nstore: sqlite:tollgate.db\n${yaml(good.url, bad.url)}`,
    );
    gateway.gateway.reload(await checkOrThrow(gateway.file, {}));
    await chat('acme/one');
    const found = await metrics();
    const [cost, lost] = ['cost', 'uncollected'].map((name) =>
      found.sum(`tollgate_${name}_dollars_total`, { model: 'acme/one', provider: 'good' }),
    );
    expect(cost).to.be.closeTo(10, 1e-6);
    expect((cost ?? 0) + (lost ?? 0)).to.be.closeTo((20_000 * 1000 + 5 * 2000) / 1e6, 1e-6);
  });

  it('shows the holds and requests in flight', async () => {
    let release = (): void => undefined;
    held = new Promise((resolve) => (release = resolve));
    const answer = chat('acme/one');
    await until(() => good.requests.length === 1, 'the upstream is asked');
    const during = await metrics();
    expect(during.sum('tollgate_holds_open')).to.equal(1);
    expect(during.sum('tollgate_holds_dollars')).to.be.greaterThan(0.04);
    expect(during.sum('tollgate_requests_in_flight')).to.equal(1);
    release();
    await answer;
    const after = await metrics();
    expect(after.sum('tollgate_holds_open')).to.equal(0);
    expect(after.sum('tollgate_holds_dollars')).to.equal(0);
    expect(after.sum('tollgate_requests_in_flight')).to.equal(0);
  });

  it('shows the sockets that are open', async () => {
    const { ws, closed } = await openSocket(gateway);
    expect((await metrics()).sum('tollgate_sockets_open')).to.equal(1);
    ws.close();
    await closed;
    const isClosed = async () => (await metrics()).sum('tollgate_sockets_open') === 0;
    await until(isClosed, 'it is closed at the server too');
  });

  it('shows how the providers do', async () => {
    await chat('acme/two');
    await chat('acme/one');
    const found = await metrics();
    const recent = (provider: string, outcome: string) =>
      found.sum('tollgate_provider_recent_calls', { provider, outcome });
    expect(recent('good', 'answered')).to.equal(2);
    expect(recent('bad', 'failed')).to.equal(bad.requests.length);
    expect(recent('bad', 'answered')).to.equal(0);
    const last = (what: string, provider: string) =>
      found.sum(`tollgate_provider_last_${what}_timestamp_seconds`, { provider });
    expect(last('failure', 'bad')).to.be.closeTo(Date.now() / 1_000, 60);
    expect(last('success', 'bad')).to.equal(undefined);
    expect(last('success', 'good')).to.be.closeTo(Date.now() / 1_000, 60);
  });

  it('counts reloads, and says that one was refused', async () => {
    const before = await metrics();
    expect(before.sum('tollgate_reloads_total', { outcome: 'refused' })).to.equal(0);
    gateway.gateway.refuseReload('line 1: unknown_key');
    const refused = await metrics();
    expect(refused.sum('tollgate_configuration_fault')).to.equal(1);
    gateway.gateway.reload(await checkOrThrow(gateway.file, {}));
    const after = await metrics();
    expect(after.sum('tollgate_configuration_fault')).to.equal(0);
    expect(after.sum('tollgate_reloads_total', { outcome: 'refused' })).to.equal(1);
    expect(after.sum('tollgate_reloads_total', { outcome: 'ok' })).to.equal(1);
  });

  it('shows the store, the queues and the process', async () => {
    const found = await metrics();
    expect(found.sum('tollgate_store_up')).to.equal(1);
    expect(found.sum('tollgate_store_wait_seconds')).to.be.within(0, 1.5);
    expect(found.sum('tollgate_journal_charges')).to.equal(0);
    expect(found.sum('tollgate_records_waiting')).to.equal(0);
    expect(found.sum('tollgate_records_dropped_total')).to.equal(0);
    expect(found.types.get('nodejs_eventloop_lag_seconds')).to.equal('gauge');
    expect(found.sum('process_cpu_seconds_total')).to.be.greaterThan(0);
  });

  it('puts no name into a label that gateway.yaml does not have', async () => {
    for (let call = 0; call < 20; call += 1) await chat(`made-up-${call}`);
    const { samples } = await metrics();
    expect(JSON.stringify(samples)).not.to.include('made-up');
    for (const { name, labels } of samples) {
      for (const secret of [gateway.account.id, gateway.key_id, gateway.secret]) {
        expect(Object.values(labels), name).not.to.include(secret);
      }
    }
  });

  it('is at /metrics alone', async () => {
    const base = `http://127.0.0.1:${server.address.port}`;
    expect((await fetch(`${base}/`)).status).to.equal(404);
    expect((await fetch(`${base}/v1/models`)).status).to.equal(404);
    expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).to.equal(405);
    expect((await fetch(`${gateway.url}/metrics`)).status).to.equal(404);
  });
});

describe('metrics of a gateway.yaml that has none', () => {
  it('are off', async () => {
    const gateway = await startGateway(
      yaml('http://127.0.0.1:9', 'http://127.0.0.1:9').replace(/^metrics.*\n/u, ''),
    );
    expect(gateway.gateway.views.metrics).to.equal(undefined);
    expect(gateway.gateway.views.sinks).to.deep.equal([]);
    await gateway.close();
  });
});
