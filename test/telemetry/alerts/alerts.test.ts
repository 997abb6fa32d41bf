import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { pino } from 'pino';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { checkOrThrow, Gateway } from '../../../src/gateway/gateway.js';
import { openStore } from '../../../src/store/open.js';
import { ProviderHealth } from '../../../src/telemetry/provider-health.js';
import { ask } from '../../helpers/ask.js';
import { boxReport } from '../../helpers/box-report.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../../helpers/gateway.js';
import { expectShape } from '../../helpers/schemas.js';
import {
  chatJson,
  startUpstream,
  type FakeUpstream,
  type Received,
} from '../../helpers/upstream.js';

const SECRET = 'an-alert-secret-of-tests';
const LOOK_MS = 15_000;
const DAY_MS = 24 * 3_600_000;

interface Alert {
  id: string;
  type: string;
  message: string;
  data: Record<string, unknown>;
}

const yaml = (alerts: string, upstream: string): string => `alerts: ${alerts}
owners: { acme: { name: Acme } }
providers:
  up: { uses: openai, base_url: '${upstream}', api_key: sk-up }
models:
  one: { owner: acme, capabilities: [chat], upstreams: [{ provider: up }], price: { input_per_million: 10000, output_per_million: 20000 } }
`;

describe('alerts', () => {
  let upstream: FakeUpstream;
  let receiver: FakeUpstream;
  let status: number;
  let gateway: TestGateway;
  let usage: object;
  let now_ms: number;

  beforeEach(async () => {
    now_ms = Date.now();
    status = 204;
    usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
    upstream = await startUpstream((_, response) => {
      const { headers, body } = chatJson('hello', { usage });
      response.writeHead(200, headers).end(body);
    });
    receiver = await startUpstream((_, response) => {
      response.writeHead(status, status === 302 ? { location: `${upstream.url}/x` } : {}).end();
    });
  });
  afterEach(async () => {
    await gateway.close();
    await Promise.all([upstream.close(), receiver.close()]);
  });

  const block = (more = ''): string =>
    `{ webhook: '${receiver.url}/hook', secret: ${SECRET}${more} }`;
  const start = async (more = '', options: TestGatewayOptions = {}): Promise<void> => {
    const text = yaml(block(more), upstream.url);
    gateway = await startGateway(text, { now: () => now_ms, ...options });
  };
  /** Lets the time pass, and what is then done be done. */
  const pass = async (ms: number): Promise<void> => {
    // A tick may be on its way that began before.
    await gateway.gateway.views.alerts?.tick();
    now_ms += ms;
    await gateway.gateway.views.alerts?.tick();
  };
  const chat = async (): Promise<number> => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const body = JSON.stringify({ model: 'one', messages, max_tokens: 10 });
    const headers = { 'content-type': 'application/json' };
    const path = '/v1/chat/completions';
    return (await ask(gateway, path, { method: 'POST', headers, body })).status;
  };
  const alerts = (): Alert[] =>
    receiver.requests.map(({ json }) => {
      expectShape('alert', json);
      return json as Alert;
    });
  const types = (): string[] => alerts().map(({ type }) => type);

  it('tell of a low balance once, until credit clears it, and again', async () => {
    await start(', low_balance: 9.90');
    await chat();
    await pass(LOOK_MS);
    expect(types()).to.deep.equal(['balance.low']);
    expect(alerts()[0]?.data).to.deep.equal({
      account: 'tester',
      balance: '9.81',
      threshold: '9.90',
    });
    await chat();
    await pass(LOOK_MS);
    await pass(LOOK_MS);
    expect(types()).to.have.length(1);
    await gateway.gateway.store.credit(gateway.account.id, 300_000_000n, 'more');
    await pass(LOOK_MS);
    expect(types()).to.have.length(1);
    await chat();
    await pass(LOOK_MS);
    expect(types()).to.deep.equal(['balance.low', 'balance.low']);
  });

  it('tell of boxes whose clocks differ once, until they agree, and again', async () => {
    await start();
    const other = await openStore(`sqlite:${gateway.folder}/tollgate.db`, { now: () => now_ms });
    const beat = async (clock_offset_ms: number): Promise<void> => {
      await other.heartbeat(undefined, JSON.stringify(boxReport({ clock_offset_ms })));
      await pass(LOOK_MS);
    };
    for (const offset_ms of [0, 9_000, 9_500]) await beat(offset_ms);
    expect(types()).to.deep.equal(['boxes.differ']);
    const [{ message, data } = { message: '', data: {} }] = alerts();
    expect(message).to.match(/^The boxes on the store differ in their clock: .*\+9\.0 s on web2 /u);
    expect(data).to.deep.include({ part: 'clock' });
    for (const offset_ms of [0, -9_000]) await beat(offset_ms);
    expect(types()).to.deep.equal(['boxes.differ', 'boxes.differ']);
    await other.close();
  });

  it('tell again of what lasts for a day', async () => {
    await start(', low_balance: 9.90');
    await chat();
    await pass(LOOK_MS);
    await pass(DAY_MS - LOOK_MS - 1);
    expect(types()).to.have.length(1);
    await pass(LOOK_MS + 1);
    expect(types()).to.deep.equal(['balance.low', 'balance.low']);
  });

  it('tell of no balance where none is called low', async () => {
    await start();
    await chat();
    await pass(LOOK_MS);
    expect(types()).to.deep.equal([]);
  });

  it('tell of the budget of a key at 80 and at 100 percent', async () => {
    await start('', { terms: { limit_nano: 4_000_000_000n } });
    const spend = async (calls: number): Promise<unknown[]> => {
      for (let call = 0; call < calls; call += 1) expect(await chat()).to.equal(200);
      await pass(LOOK_MS);
      const budgets = alerts().filter(({ type }) => type === 'key.budget');
      return budgets.map(({ data }) => [data.percent, data.spent, data.limit]);
    };
    expect(await spend(2)).to.deep.equal([]);
    usage = { prompt_tokens: 280, completion_tokens: 2, total_tokens: 282 };
    expect(await spend(1)).to.deep.equal([[80, '3.22', '4.00']]);
    await gateway.gateway.store.credit(gateway.account.id, 1_000_000_000n, 'more');
    await pass(LOOK_MS);
    expect(await spend(0)).to.deep.equal([[80, '3.22', '4.00']]);
    const events = alerts().map(({ data }) => [data.account, data.key]);
    expect(events).to.deep.equal([[gateway.account.id, gateway.key_id]]);
  });

  it('tell of a key that has spent all of its limit, and not of 80 percent too', async () => {
    await start('', { terms: { limit_nano: 3_000_000_000n } });
    usage = { prompt_tokens: 350, completion_tokens: 5, total_tokens: 355 };
    await chat();
    await pass(LOOK_MS);
    const budgets = alerts().filter(({ type }) => type === 'key.budget');
    expect(budgets.map(({ data }) => data)).to.deep.equal([
      {
        account: gateway.account.id,
        key: gateway.key_id,
        percent: 100,
        limit: '3.00',
        spent: '3.00',
      },
    ]);
  });

  it('tell of cost that could not be collected, once a day and account', async () => {
    usage = { prompt_tokens: 1_200, completion_tokens: 5, total_tokens: 1_205 };
    await start();
    await chat();
    await pass(0);
    expect(types()).to.deep.equal(['cost.uncollected']);
    expect(alerts()[0]?.data).to.deep.equal({
      account: gateway.account.id,
      model: 'one',
      uncollected: '2.10',
    });
  });

  it('say of output beyond its limit no word about the means of its account', async () => {
    usage = { prompt_tokens: 9, completion_tokens: 60, total_tokens: 69 };
    await start();
    await chat();
    await pass(0);
    const { id } = gateway.account;
    expect(alerts().map(({ message }) => message)).to.deep.equal([
      `1.00 dollars of an answer of one to ${id} were not collected.`,
    ]);
  });

  it('tell of a provider whose calls all fail, until one is answered', async () => {
    await start();
    const health = new ProviderHealth(() => now_ms);
    const beat = () => gateway.gateway.store.heartbeat(JSON.stringify(health.report()));
    const fail = () => health.failed('up', new UpstreamError('timeout', 'It is late.'));
    fail();
    fail();
    await beat();
    await pass(LOOK_MS);
    expect(types()).to.deep.equal([]);
    fail();
    await beat();
    await pass(LOOK_MS);
    await pass(LOOK_MS);
    expect(alerts().map(({ data }) => data)).to.deep.equal([
      { provider: 'up', failed: 3, last_fault: 'timeout' },
    ]);
    health.answered('up');
    await beat();
    await pass(LOOK_MS);
    now_ms += 10 * 60_000;
    for (let call = 0; call < 3; call += 1) fail();
    await beat();
    await pass(LOOK_MS);
    expect(types()).to.deep.equal(['provider.down', 'provider.down']);
  });

  it('tell of a refused file once, until one is taken up', async () => {
    await start();
    gateway.gateway.refuseReload('line 3: unknown_key');
    gateway.gateway.refuseReload('line 3: unknown_key');
    await pass(1_000);
    expect(alerts().map(({ data }) => data)).to.deep.equal([{ reason: 'line 3: unknown_key' }]);
    gateway.gateway.reload(await checkOrThrow(gateway.file, {}));
    await pass(1_000);
    gateway.gateway.refuseReload('line 4: bad_url');
    await pass(1_000);
    await pass(1_000);
    expect(types()).to.have.length(2);
  });

  it('tell of a refused file after a restart, though one was told of the same day', async () => {
    await start();
    gateway.gateway.refuseReload('line 3: unknown_key');
    await pass(1_000);
    const log = pino({ level: 'silent' });
    const services = { log, now: () => now_ms, random: Math.random };
    const restarted = await Gateway.open(await checkOrThrow(gateway.file, {}), services);
    restarted.refuseReload('line 4: bad_url');
    await restarted.views.alerts?.tick();
    await restarted.stop();
    expect(alerts().map(({ data }) => data.reason)).to.deep.equal([
      'line 3: unknown_key',
      'line 4: bad_url',
    ]);
  });

  it('tell of a store that takes no writes, and of nothing else meanwhile', async () => {
    await start(', low_balance: 9.90');
    await chat();
    await rename(`${gateway.folder}/tollgate.db`, `${gateway.folder}/gone.db`);
    await pass(LOOK_MS);
    expect(types()).to.deep.equal([]);
    await pass(LOOK_MS);
    await pass(LOOK_MS);
    expect(types()).to.deep.equal(['store.away']);
    await rename(`${gateway.folder}/gone.db`, `${gateway.folder}/tollgate.db`);
    await pass(LOOK_MS);
    expect(types()).to.deep.equal(['store.away', 'balance.low']);
  });

  it('are told once for all processes on a store', async () => {
    await start();
    const { alerts: store } = gateway.gateway.store;
    expect(await store.claim('one', DAY_MS)).to.equal(true);
    expect(await store.claim('one', DAY_MS)).to.equal(false);
    now_ms += DAY_MS;
    expect(await store.claim('one', DAY_MS)).to.equal(true);
    await store.clear('one');
    const claims = Array.from({ length: 8 }, () => store.claim('one', DAY_MS));
    expect((await Promise.all(claims)).filter(Boolean)).to.have.length(1);
  });

  it('are signed, so that a receiver can tell ours from others', async () => {
    await start();
    gateway.gateway.refuseReload('line 3: unknown_key');
    await pass(0);
    const [received] = receiver.requests as [Received];
    const { headers, body, method, path } = received;
    expect([method, path]).to.deep.equal(['POST', '/hook']);
    expect(headers['content-type']).to.equal('application/json');
    const signature = String(headers['tollgate-signature']);
    const [, time, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/u.exec(signature) ?? [];
    expect(Number(time)).to.equal(Math.floor(now_ms / 1_000));
    expect(v1).to.equal(createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex'));
  });

  it('are sent again where the receiver fails, five times at most', async () => {
    await start();
    status = 500;
    gateway.gateway.refuseReload('line 3: unknown_key');
    await pass(0);
    expect(receiver.requests).to.have.length(1);
    await pass(1_999);
    expect(receiver.requests).to.have.length(1);
    for (const ms of [1, 10_000, 60_000, 300_000]) await pass(ms);
    expect(receiver.requests).to.have.length(5);
    await pass(3_600_000);
    expect(receiver.requests).to.have.length(5);
    expect(new Set(alerts().map(({ id }) => id)).size).to.equal(1);
    const signatures = receiver.requests.map(({ headers }) => headers['tollgate-signature']);
    expect(new Set(signatures).size).to.equal(5);
  });

  it('arrive once the receiver is back', async () => {
    await start();
    status = 503;
    gateway.gateway.refuseReload('line 3: unknown_key');
    await pass(1_000);
    status = 200;
    await pass(2_000);
    expect(receiver.requests).to.have.length(2);
    await pass(DAY_MS / 2);
    expect(receiver.requests).to.have.length(2);
  });

  it('follow no redirect', async () => {
    await start();
    status = 302;
    gateway.gateway.refuseReload('line 3: unknown_key');
    await pass(1_000);
    expect(receiver.requests).to.have.length(1);
    expect(upstream.requests).to.deep.equal([]);
  });
});
