import { expect } from 'chai';
import { chatJson } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { HELLO, scriptedGateways } from './helpers/scripted-gateway.js';

const SETTINGS = 'limits: { connections: 1 }';

describe('a call to an upstream with limits.connections calls', () => {
  const start = scriptedGateways();

  /** An answer that waits until `release` is called. */
  function held() {
    let release = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    return { script: { ...chatJson('first'), hold }, release: () => release() };
  }

  it('was a 502 that blamed the provider: it is a 503 that names the limit', async () => {
    const { script, release } = held();
    const house = await start(script, { settings: SETTINGS });
    const first = house.post(HELLO);
    await until(() => house.upstream.requests.length === 1, 'the first has the connection');
    const second = await house.post(HELLO);
    expect([second.status, second.headers.get('retry-after')]).to.deep.equal([503, '1']);
    const { error } = (await second.json()) as { error: { code: string; message: string } };
    expect(error.code).to.equal('overloaded');
    expect(error.message).to.contain('limits.connections');
    release();
    expect((await first).status).to.equal(200);
    await house.settled();
    await house.gateway.store.heartbeat();
    const id = second.headers.get('x-request-id') ?? '';
    const { requests } = house.gateway.store;
    await until(async () => (await requests.one(id)) !== undefined, 'it has the record');
    expect(await requests.one(id)).to.deep.include({ provider: null, attempts: [], status: 503 });
    expect(await house.charges()).to.have.length(1);
  });

  it('goes to the next upstream, which has room', async () => {
    const { script, release } = held();
    const house = await start({ up: script, spare: chatJson('second') }, { settings: SETTINGS });
    const first = house.post(HELLO);
    await until(() => house.upstream.requests.length === 1, 'the first has the connection');
    const second = await house.post(HELLO);
    expect(await second.text()).to.contain('second');
    release();
    expect(await (await first).text()).to.contain('first');
    expect(house.upstreams.spare?.requests).to.have.length(1);
  });
});
