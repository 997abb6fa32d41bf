import { expect } from 'chai';
import { pino } from 'pino';
import { startProxy, type Proxy } from '../helpers/proxy.js';
import { chatJson } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { onEachStore, type Ground } from '../store/helpers/ground.js';
import {
  closeAndAudit,
  HELLO,
  ready,
  startScriptedGateway,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';

const testOutages = (ground: Ground): void => {
  let house: ScriptedGateway;
  let proxy: Proxy;
  let lines: string[];

  beforeEach(async () => {
    lines = [];
    const url = new URL(ground.place.url);
    proxy = await startProxy(url.hostname, Number(url.port || 5432));
    url.port = String(proxy.port);
    const store = JSON.stringify(url.href);
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    house = await startScriptedGateway({ up: chatJson('x') }, { store, store_wait_ms: 150, log });
  });

  afterEach(async () => {
    proxy.set('here');
    await closeAndAudit(house);
    await proxy.close();
  });

  const expectUnreachable = async (response: Response): Promise<void> => {
    expect([response.status, response.headers.get('retry-after')]).to.deep.equal([503, '5']);
    expect(await response.json()).to.deep.equal({
      error: {
        message: "The gateway's store cannot be reached: try again in a moment.",
        type: 'unavailable_error',
        code: 'overloaded',
        param: null,
      },
    });
    const line = lines.find((one) => one.includes('the store cannot be reached'));
    expect(line).to.include('StoreUnreachable');
  };

  const expectWorksAgain = async (): Promise<void> => {
    proxy.set('here');
    await ready(house);
    expect((await house.post(HELLO)).status).to.equal(200);
    await house.settled();
  };

  const states = [
    ['refuses connections', 'shut'],
    ['resets connections', 'away'],
    ['has too many clients', 'fatal 53300'],
    ['is shutting down', 'fatal 57P03'],
  ] as const;
  for (const [name, state] of states) {
    it(`answers 503 with Retry-After, not 500, while PostgreSQL ${name}`, async () => {
      proxy.set(state);
      await expectUnreachable(await house.post(HELLO));
      expect(house.upstream.requests).to.have.length(0);
      await expectWorksAgain();
    });
  }

  it('refuses at once while PostgreSQL takes connections and never answers', async () => {
    proxy.set('hangs');
    const ended: string[] = [];
    const early = house.gateway.store.ping().catch(() => undefined);
    const readiness = await fetch(`${house.url}/readyz`);
    expect(readiness.status).to.equal(503);
    const late = early.then(() => ended.push('a statement that began before'));
    await expectUnreachable(await house.post(HELLO));
    ended.push('the call');
    await late;
    expect(ended[0]).to.equal('the call');
    await expectWorksAgain();
  });

  it('answers 503 with Retry-After, not 500, if the connection of a hold is ended', async () => {
    const unlock = await ground.place.lock('update accounts set name = name');
    const answer = house.post(HELLO);
    const waiting = `from pg_stat_activity where wait_event_type = 'Lock'
      and application_name = current_setting('application_name')`;
    await until(
      async () => (await ground.place.sql(`select pid ${waiting}`)).length > 0,
      'the hold waits for the lock',
    );
    await ground.place.sql(`select pg_terminate_backend(pid) ${waiting}`);
    await expectUnreachable(await answer);
    await unlock();
    await expectWorksAgain();
  });
};

onEachStore('a call while the store cannot be reached', testOutages, ['PostgreSQL']);
