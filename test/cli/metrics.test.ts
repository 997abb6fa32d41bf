import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { chat } from '../helpers/ask.js';
import { freePort } from '../helpers/free-port.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import { scrape } from '../helpers/prometheus.js';

describe('tollgate serve with metrics', () => {
  let place: Place;
  afterEach(() => place.close());

  it('counts the requests of one process', async () => {
    const port = await freePort();
    place = await makePlace(`metrics: 127.0.0.1:${port}\n${SIMULATED}`);
    const { secret } = await place.customer('ann');
    const at = { url: await place.begin('serve').url(), secret };
    const messages = [{ role: 'user', content: 'Hi' }];
    for (let sent = 0; sent < 5; sent += 1) await chat(at, { model: 'sim', messages });
    const counted = await scrape(`http://127.0.0.1:${port}/metrics`);
    const whole = { model: 'sim', status: '200' };
    expect(counted.sum('tollgate_requests_total', whole)).to.equal(5);
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
