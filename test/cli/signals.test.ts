import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { ask, chunksOf, errorOf, eventsOf } from '../helpers/ask.js';
import { eventually, makePlace, type Place } from '../helpers/cli.js';
import type { CommandHere, RunningCommand } from '../helpers/run-command.js';
import { expectShape } from '../helpers/schemas.js';
import {
  beginStream,
  heldProvider,
  SLOW_CALL,
  SLOW_MODEL,
  startHoldingUpstream,
  type HoldingUpstream,
} from './helpers/held-stream.js';
import { refusesNewWork, startWithHangup } from './helpers/processes.js';

describe('tollgate serve and its signals', () => {
  let place: Place;
  let upstream: HoldingUpstream;
  let url: string;
  let secret: string;

  const yaml = (drain: string): string => `listen: 127.0.0.1:0
store: sqlite:data/tollgate.db
drain: ${drain}
owners: { me: { name: Me } }
providers: { ${heldProvider(upstream)} }
models:
${SLOW_MODEL}`;

  const serve = async (drain: string): Promise<CommandHere> => {
    await place.write(yaml(drain));
    ({ secret } = await place.customer('ann'));
    const serving = place.begin('serve');
    url = await serving.url();
    return serving;
  };
  const begin = () => beginStream({ url, secret });

  beforeEach(async () => {
    upstream = await startHoldingUpstream();
    place = await makePlace('');
  });
  afterEach(async () => {
    upstream.goOn();
    await place.close();
    await upstream.close();
  });

  it('ends a stream that outlives the drain with an error, and charges what was given', async () => {
    const serving = await serve('100ms');
    const { rest } = await begin();
    const ended = serving.stop();
    const events = eventsOf({ text: await rest });
    const last = JSON.parse(events.at(-1) ?? '') as { error: { code: string } };
    expectShape('error', last);
    expect(last.error.code).to.equal('draining');
    expect(events).not.to.include('[DONE]');
    expect(await ended).to.include({ status: 0, signal: null });
    const rows = await place.json<{ kind: string; estimated: boolean }[]>('ledger', 'ann');
    expect(rows[1]).to.include({ kind: 'charge', estimated: true });
    expect(await place.json('verify')).to.deep.include({ faults: [], open_holds: 0 });
  });

  it('stops at once when nothing is in flight', async () => {
    const serving = await serve('30s');
    expect((await ask({ url, secret }, '/v1/models')).status).to.equal(200);
    expect(await serving.stop()).to.include({ status: 0, signal: null });
  });

  it('stops at once though a client has opened a connection ahead', async () => {
    const serving = await serve('10m');
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const closed = once(socket.resume(), 'close');
    expect(await serving.stop()).to.include({ status: 0, signal: null });
    await closed;
  });

  const models = async (): Promise<string> => (await ask({ url, secret }, '/v1/models')).text;

  /** Changes the file three times, while a stream runs; the second change is broken. */
  async function expectReloads(
    serving: RunningCommand,
    change: (text: string) => Promise<void>,
  ): Promise<void> {
    const [head, tail = ''] = yaml('30s').split('  slow: {');
    await change(`${head}  quick: {${tail}`);
    await serving.says('took up the changed configuration');
    await eventually('the changed one serves', async () => (await models()).includes('"quick"'));
    expect(await models()).not.to.include('"slow"');
    const refused = await ask({ url, secret }, '/v1/chat/completions', SLOW_CALL);
    expect(errorOf(refused).code).to.equal('model_not_found');

    await change(`${head}  broken: { ownr: me,${tail}`);
    await serving.says('kept the older configuration');
    expect(await models()).to.include('"quick"');
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).to.equal(200);
    expect(await ready.json())
      .to.have.property('configuration')
      .that.matches(/^older one serves: line \d+: unknown_key$/u);

    await change(`${head}  mended: {${tail}`);
    await eventually('the mended one serves', async () => (await models()).includes('"mended"'));
    expect(await (await fetch(`${url}/readyz`)).json()).to.deep.equal({ status: 'ready' });
  }

  it('takes up a changed file by itself, and keeps it when the next is broken', async () => {
    const serving = await serve('30s');
    const { rest } = await begin();
    await expectReloads(serving, (text) => place.write(text));
    upstream.goOn();
    expect(chunksOf({ text: await rest }).at(-1)?.usage?.total_tokens).to.equal(7);
  });

  it('survives a SIGHUP while it starts, takes up a changed file by SIGHUP, and lets a stream finish at SIGINT', async function () {
    if (process.platform !== 'linux') this.skip();
    await place.write(yaml('30s'));
    ({ secret } = await place.customer('ann'));
    const serving = await startWithHangup(place);
    url = await serving.url();
    await serving.says('took up the changed configuration');
    const { rest } = await begin();
    await expectReloads(serving, async (text) => {
      await place.write(text);
      serving.child.kill('SIGHUP');
    });
    const ended = serving.kill('SIGINT');
    await eventually('new connections are refused', () => refusesNewWork(url));
    upstream.goOn();
    expect(chunksOf({ text: await rest }).at(-1)?.usage?.total_tokens).to.equal(7);
    expect(await ended).to.include({ status: 0, signal: null });
    const [, charge] = await place.json<{ amount: string }[]>('ledger', 'ann');
    expect(charge?.amount).to.equal('-0.000007');
  });
});
