import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { ask, chunksOf } from '../helpers/ask.js';
import { eventually, makePlace, SIMULATED, type Place, type Running } from '../helpers/cli.js';
import { freePort } from '../helpers/free-port.js';
import { scrape } from '../helpers/prometheus.js';
import { idIn, openSocket, type SocketClient } from '../helpers/socket-client.js';
import { until } from '../helpers/until.js';
import { expectGreeting, expectNoKey, FIRST_START } from './helpers/greeting.js';
import {
  beginStream,
  heldProvider,
  SLOW_MODEL,
  startHoldingUpstream,
  type HoldingUpstream,
} from './helpers/held-stream.js';
import {
  lives,
  refusesNewWork,
  startWithHangup,
  timesSaid,
  workersOf,
} from './helpers/processes.js';

const SOCKETS = 6;
const TURNS = 3;
const REPLACED = 'another one takes its place';
const RELOADED = 'took up the changed configuration';
const OTHER_MODEL = SLOW_MODEL.replace('slow', 'other');

/** The models that one of the workers lists; each call comes on a connection of its own. */
async function listedModels(at: { url: string; secret: string }): Promise<string> {
  const answer = await ask(at, '/v1/models', { headers: { connection: 'close' } });
  expect(answer.status).to.equal(200);
  return answer.text;
}

/** One start, which each of these goes on with. */
describe('tollgate serve --workers', () => {
  let place: Place;
  let upstream: HoldingUpstream;
  let serving: Running;
  let metrics: string;
  let yaml: string;
  let at: { url: string; secret: string };
  let victim: number;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    upstream = await startHoldingUpstream();
    const port = await freePort();
    metrics = `http://127.0.0.1:${port}/metrics`;
    const models = SIMULATED.replace('simulator: {}', `simulator: {}, ${heldProvider(upstream)}`);
    yaml = `metrics: 127.0.0.1:${port}\ndrain: 30s\n${FIRST_START}${models}${SLOW_MODEL}`;
    place = await makePlace(yaml);
    serving = place.start('serve', '--workers', '2');
  });
  after(async () => {
    await place?.close();
    await upstream?.close();
  });

  it('greets a newcomer with a command that works', async () => {
    at = { secret: await expectGreeting(serving), url: await serving.url() };
  });

  const call = async (): Promise<void> => {
    const body = JSON.stringify({ model: 'sim', messages: [{ role: 'user', content: 'Hi' }] });
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const answer = await ask(at, '/v1/chat/completions', { method: 'POST', headers, body });
    expect(answer.status).to.equal(200);
  };
  const counted = async (): Promise<number> =>
    (await scrape(metrics)).sum('tollgate_requests_total', { model: 'sim', status: '200' }) ?? 0;

  it('replaces a worker that dies, and adds its metrics to those of the others', async () => {
    const first = await scrape(metrics);
    expect(first.sum('tollgate_reloads_total', { outcome: 'ok' })).to.equal(0);
    const greeted = await counted();
    for (let sent = 0; sent < 12; sent += 1) await call();
    const before = await scrape(metrics);
    expect(before.sum('tollgate_requests_total', { model: 'sim' })).to.equal(greeted + 12);
    const of_chat = { endpoint: 'chat' };
    expect(before.sum('tollgate_gateway_overhead_seconds_count', of_chat)).to.equal(greeted + 12);
    expect(before.sum('tollgate_store_up')).to.equal(1);
    [victim = 0] = await workersOf(serving);
    process.kill(victim, 'SIGKILL');
    await serving.says(REPLACED);
    expect(await counted()).to.equal(greeted + 12);
    let workers: number[] = [];
    await eventually('two workers are there again', async () => {
      workers = await workersOf(serving);
      return workers.length === 2 && !workers.includes(victim);
    });
    for (let sent = 0; sent < 10; sent += 1) await call();
    expect(await counted()).to.equal(greeted + 22);
  });

  it('is one box to `box list`, whose workers read the same configuration', async () => {
    const workers = await workersOf(serving);
    const told = [[workers.toSorted((one, other) => one - other), 'ready']];
    // The worker that took the place of the dead one tells of itself after a while.
    await eventually('both workers are told as one box', async () => {
      const boxes = await place.json<{ pids: number[]; health: string }[]>('box', 'list');
      return isDeepStrictEqual(
        boxes.map(({ pids, health }) => [pids, health]),
        told,
      );
    });
  });

  it('passes SIGHUP on to all', async () => {
    await place.write(yaml + OTHER_MODEL);
    serving.child.kill('SIGHUP');
    await until(() => timesSaid(serving, RELOADED) >= 2, 'both take it up');
    for (let call = 0; call < 6; call += 1) {
      expect(await listedModels(at)).to.include('"other"');
    }
  });

  it('serves turns of WebSockets that continue each other', async () => {
    const { id, secret } = await place.customer('agent');
    const key = { ...at, secret };
    const clients = await Promise.all(Array.from({ length: SOCKETS }, () => openSocket(key)));
    await Promise.all(clients.map(converse));
    const rows = await place.json<{ kind: string }[]>('ledger', id, '--limit', '100');
    expect(rows.filter(({ kind }) => kind === 'charge')).to.have.length(SOCKETS * TURNS);
    for (const { ws } of clients) ws.close();
  });

  it('lets a stream finish at SIGTERM, closes WebSockets by 1012, and leaves no worker behind, also when one has just died', async () => {
    const workers = await workersOf(serving);
    process.kill(workers[0] ?? 0, 'SIGKILL');
    await until(() => timesSaid(serving, REPLACED) >= 2, 'it is to be replaced');
    const client = await openSocket(at);
    await converse(client);
    const { id, secret } = await place.customer('streaming');
    const { rest } = await beginStream({ ...at, secret });
    const ended = serving.kill('SIGTERM');
    await eventually('new connections are refused', () => refusesNewWork(at.url));
    expect(await client.closed).to.equal(1012);
    upstream.goOn();
    expect(chunksOf({ text: await rest }).at(-1)?.usage?.total_tokens).to.equal(7);
    expect(await ended).to.include({ status: 0, signal: null });
    for (const pid of workers) expect(lives(pid)).to.equal(false);
    const [, charge] = await place.json<{ amount: string }[]>('ledger', id);
    expect(charge?.amount).to.equal('-0.000007');
    expect((await place.tollgate('verify')).status).to.equal(0);
    await expectNoKey(place.begin('serve'));
  });
});

async function converse(client: SocketClient): Promise<void> {
  let previous: object = {};
  for (let turn = 0; turn < TURNS; turn += 1) {
    const end = await client.turn({ model: 'sim', input: `Turn ${turn}`, ...previous });
    expect(end.type).to.equal('response.completed');
    previous = { previous_response_id: idIn(end) };
  }
}

describe('tollgate serve --workers that is killed', () => {
  it('survives a SIGHUP while it starts, and leaves no worker running', async function () {
    if (process.platform !== 'linux') this.skip();
    const place = await makePlace(SIMULATED);
    try {
      await place.customer('ann');
      const serving = await startWithHangup(place, '--workers', '2');
      expect((await fetch(`${await serving.url()}/readyz`)).status).to.equal(200);
      await serving.says(RELOADED);
      const workers = await workersOf(serving);
      expect(workers).to.have.length(2);
      await serving.kill('SIGKILL');
      await until(() => !workers.some(lives), 'the workers are gone');
    } finally {
      await place.close();
    }
  });
});
