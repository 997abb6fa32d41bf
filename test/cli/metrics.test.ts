import { expect } from 'chai';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { ask } from '../helpers/ask.js';
import { freePort } from '../helpers/free-port.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { RunningCommand } from '../helpers/run-command.js';
import { scrape } from '../helpers/prometheus.js';

describe('tollgate serve with metrics', function () {
  let place: Place;
  let at: { url: string; secret: string };
  let metrics: string;

  const begin = async <S extends RunningCommand>(serve: () => S): Promise<S> => {
    const port = await freePort();
    metrics = `http://127.0.0.1:${port}/metrics`;
    place = await makePlace(`metrics: 127.0.0.1:${port}\n${SIMULATED}`);
    const { secret } = await place.customer('ann');
    const serving = serve();
    at = { url: await serving.url(), secret };
    return serving;
  };
  afterEach(() => place.close());

  /** Each call comes on a connection of its own, so that all workers get some. */
  const call = async (): Promise<void> => {
    const body = JSON.stringify({ model: 'sim', messages: [{ role: 'user', content: 'Hi' }] });
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const answer = await ask(at, '/v1/chat/completions', { method: 'POST', headers, body });
    expect(answer.status).to.equal(200);
  };
  const counted = async (): Promise<number> =>
    (await scrape(metrics)).sum('tollgate_requests_total', { model: 'sim', status: '200' }) ?? 0;

  it('counts the requests of one process', async () => {
    await begin(() => place.begin('serve'));
    for (let sent = 0; sent < 5; sent += 1) await call();
    expect(await counted()).to.equal(5);
  });

  it('adds up all workers, also those that have died', async function () {
    if (process.platform !== 'linux') this.skip();
    const serving = await begin(() => place.start('serve', '--workers', '2'));
    const first = await scrape(metrics);
    expect(first.sum('tollgate_reloads_total', { outcome: 'ok' })).to.equal(0);
    for (let sent = 0; sent < 12; sent += 1) await call();
    const before = await scrape(metrics);
    expect(before.sum('tollgate_requests_total', { model: 'sim' })).to.equal(12);
    expect(before.sum('tollgate_gateway_overhead_seconds_count')).to.equal(12);
    expect(before.sum('tollgate_store_up')).to.equal(1);
    const { pid } = serving.child;
    const [victim] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ');
    process.kill(Number(victim), 'SIGKILL');
    await serving.says('another one takes its place');
    expect(await counted()).to.equal(12);
    for (let sent = 0; sent < 4; sent += 1) await call();
    expect(await counted()).to.equal(16);
    expect(await serving.kill('SIGTERM')).to.include({ status: 0, signal: null });
  });

  it('says in one line that the address is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    place = await makePlace(`metrics: 127.0.0.1:${port}\n${SIMULATED}`);
    const { status, stderr } = await place.tollgate('serve');
    taken.close();
    expect(status).to.equal(1);
    expect(stderr).to.include(`cannot listen on 127.0.0.1:${port}`).and.to.include('metrics:');
    expect(stderr).not.to.include('    at ');
  });
});
