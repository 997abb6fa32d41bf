import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { ask, chunksOf, errorOf, eventsOf } from '../helpers/ask.js';
import { eventually, makePlace, Running, type Place } from '../helpers/cli.js';
import type { CommandHere, RunningCommand } from '../helpers/run-command.js';
import { expectShape } from '../helpers/schemas.js';
import { play, sse, startUpstream, type FakeUpstream } from '../helpers/upstream.js';

const body = JSON.stringify({
  model: 'slow',
  stream: true,
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hello!' }],
});

function piece(content: string, finish_reason: string | null = null): object {
  return { choices: [{ index: 0, delta: { content }, finish_reason }] };
}

describe('tollgate serve and its signals', () => {
  let place: Place;
  let upstream: FakeUpstream;
  let goOn: () => void;
  let url: string;
  let secret: string;

  const yaml = (drain: string): string => `listen: 127.0.0.1:0
store: sqlite:data/tollgate.db
drain: ${drain}
owners: { me: { name: Me } }
providers: { slow: { uses: openai, base_url: '${upstream.url}', api_key: sk-x } }
models:
  slow: { owner: me, capabilities: [chat], upstreams: [{ provider: slow }], price: { input_per_million: 1, output_per_million: 1 } }
`;

  const serve = async <S extends RunningCommand>(drain: string, start: () => S): Promise<S> => {
    await place.write(yaml(drain));
    ({ secret } = await place.customer('ann'));
    const serving = start();
    url = await serving.url();
    return serving;
  };
  const here = (): CommandHere => place.begin('serve');

  /** A stream whose first words have arrived; the upstream keeps the rest until `goOn`. */
  const begin = async (): Promise<{ rest: Promise<string> }> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).to.equal(200);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes('One')) text += decoder.decode((await reader.read()).value);
    const rest = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return text;
        text += decoder.decode(value);
      }
    })();
    return { rest };
  };

  beforeEach(async () => {
    const held = new Promise<void>((resolve) => (goOn = resolve));
    upstream = await startUpstream((_received, response) => {
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
      const end = [piece(' two', 'stop'), { choices: [], usage }, 'data: [DONE]\n\n'];
      return play(sse([piece('One'), held, ...end]), response);
    });
    place = await makePlace('');
  });
  afterEach(async () => {
    goOn();
    await place.close();
    await upstream.close();
  });

  const refusesNewWork = async (): Promise<boolean> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    // A rejection of `once` is an error of the socket.
    const refused = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    socket.destroy();
    return refused;
  };

  for (const [signal, ...args] of [['SIGTERM', '--workers', '2'], ['SIGINT']] as const) {
    it(`lets a stream finish at ${signal} ${args.join(' ')}`, async () => {
      const serving = await serve('30s', () => place.start('serve', ...args));
      const { rest } = await begin();
      const ended = serving.kill(signal);
      await eventually('new connections are refused', refusesNewWork);
      goOn();
      expect(chunksOf({ text: await rest }).at(-1)?.usage?.total_tokens).to.equal(7);
      expect(await ended).to.include({ status: 0, signal: null });
      const [, charge] = await place.json<{ amount: string }[]>('ledger', 'ann');
      expect(charge?.amount).to.equal('-0.000007');
    });
  }

  it('ends a stream that outlives the drain with an error, and charges what was given', async () => {
    const serving = await serve('100ms', here);
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
    const serving = await serve('30s', here);
    expect((await ask({ url, secret }, '/v1/models')).status).to.equal(200);
    expect(await serving.stop()).to.include({ status: 0, signal: null });
  });

  it('stops at once though a client has opened a connection ahead', async () => {
    const serving = await serve('10m', here);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const closed = once(socket.resume(), 'close');
    expect(await serving.stop()).to.include({ status: 0, signal: null });
    await closed;
  });

  const models = async (): Promise<string> => (await ask({ url, secret }, '/v1/models')).text;

  for (const how of ['SIGHUP', 'itself'] as const) {
    it(`takes up a changed file by ${how}, and keeps it when the next is broken`, async () => {
      const serving = await serve('1s', () =>
        how === 'SIGHUP' ? place.start('serve') : place.begin('serve'),
      );
      const { rest } = await begin();
      const change = async (text: string): Promise<void> => {
        await place.write(text);
        if (serving instanceof Running) serving.child.kill('SIGHUP');
      };
      const [head, tail = ''] = yaml('1s').split('  slow: {');
      await change(`${head}  quick: {${tail}`);
      await serving.says('took up the changed configuration');
      expect(await models())
        .to.include('"quick"')
        .and.not.include('"slow"');
      const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const refused = await ask({ url, secret }, '/v1/chat/completions', call);
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

      goOn();
      expect(chunksOf({ text: await rest }).at(-1)?.usage?.total_tokens).to.equal(7);
    });
  }
});
