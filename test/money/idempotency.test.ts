import { expect } from 'chai';
import { pino } from 'pino';
import { Gateway, checkOrThrow } from '../../src/gateway/gateway.js';
import { startGateway } from '../helpers/gateway.js';
import { chatJson } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';
import {
  closeAndAudit,
  scriptedGateways,
  startScriptedGateway,
} from './helpers/scripted-gateway.js';
import { gate } from './helpers/disconnecting.js';
import { expectSame, refused, repeat } from './helpers/idempotent-request.js';

describe('an idempotent request whose stored answer was evicted', () => {
  const open = scriptedGateways();

  it('is neither sent nor charged again, while later requests are replayed', async () => {
    const house = await open([chatJson('one'.repeat(300)), chatJson('two'.repeat(200))], {
      settings: 'limits: { idempotency_total: 1kb }',
    });
    await repeat(house, 'old');
    const late = await repeat(house, 'new');
    // A gateway looks after its store when it opens, and then every ten seconds.
    const options = { log: pino({ level: 'silent' }), now: Date.now, random: Math.random };
    await (await Gateway.open(await checkOrThrow(house.file, {}), options)).stop();
    expect(refused(await repeat(house, 'old'))).to.deep.equal([409, 'idempotency_answer_gone']);
    expectSame(await repeat(house, 'new'), late);
    expect(house.upstream.requests).to.have.length(2);
    expect(await house.charges()).to.have.length(2);
  });
});

describe('an idempotent request that cost nothing', () => {
  const open = scriptedGateways();

  it('is answered as the first time by a free model', async () => {
    const house = await open([chatJson('one'), chatJson('two')], { price: 'free' });
    const once = await repeat(house, 'k');
    expectSame(await repeat(house, 'k'), once);
    expect(house.upstream.requests).to.have.length(1);
    expect(await house.charges()).to.have.length(0);
  });

  it('is answered as the first time where there was nothing to charge', async () => {
    const usage = { prompt_tokens: 0, completion_tokens: 0 };
    const house = await open([chatJson('', { usage }), chatJson('two')]);
    const once = await repeat(house, 'k');
    expectSame(await repeat(house, 'k'), once);
    expect(house.upstream.requests).to.have.length(1);
    expect(await house.charges()).to.have.length(0);
  });
});

/** A stage that spends and charges by itself, as an operator may write one. */
const OWN = `export default {
  name: 'own',
  shape: { needs: ['hold', 'caller', 'model'], gives: ['answer'] },
  create: () => async (ctx) => {
    const { hold, caller, model } = ctx.state;
    const charge = { key_id: caller.key_id, model: model.id, provider: 'own', usage: '{}' };
    await hold.charge({ ...charge, cost_nano: 7n, estimated: false });
    ctx.state.answer = { body: () => ({ done: true }) };
  },
};`;

describe("an idempotent request to an operator's own stage", () => {
  it('is not charged again, though its answer is not known', async () => {
    const yaml = `owners: { acme: { name: OpenaiGateway } }
providers: { simulator: {} }
models:
  m: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: { input_per_million: 1, output_per_million: 1 } }
endpoints:
  own: { at: "POST /v1/chat/completions", stages: [auth, validate: chat-completion, route: { capability: chat }, balance, ./own.mjs] }
`;
    const house = await startGateway(yaml, { files: { 'own.mjs': OWN } });
    try {
      expect((await repeat(house, 'k')).text).to.equal('{"done":true}');
      expect(refused(await repeat(house, 'k'))).to.deep.equal([409, 'idempotency_answer_gone']);
      const { store } = house.gateway;
      const rows = await store.ledger(house.account.id, { limit: 10 });
      expect(rows.filter(({ kind }) => kind === 'charge')).to.have.length(1);
      expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
    } finally {
      await house.close();
    }
  });
});

onEachStore('an idempotent request sent to two gateways at once', (ground) => {
  it('is made by one of them, and known to both', async () => {
    const { promise: hold, open } = gate();
    const store = JSON.stringify(ground.place.url);
    const up = { up: { ...chatJson('Hello'), hold } };
    const house = await startScriptedGateway(up, { store });
    const options = { log: pino({ level: 'silent' }), now: Date.now, random: Math.random };
    const other = await Gateway.open(await checkOrThrow(house.file, {}), options);
    const { port } = await other.listen();
    const doors = [house, { url: `http://127.0.0.1:${port}`, secret: house.secret }] as const;
    try {
      let refusals = 0;
      const calls = Array.from({ length: 60 }, async (_, at) => {
        const answer = await repeat(doors[at % 2 ? 0 : 1], 'k');
        if (answer.status === 409) refusals += 1;
        return answer;
      });
      const asked = () => house.upstream.requests.length;
      await until(() => asked() + refusals === 60, 'all but one are refused');
      expect(asked()).to.equal(1);
      open();
      const [made] = (await Promise.all(calls)).filter(({ status }) => status === 200);
      if (!made) throw new Error('None was made.');
      for (const door of doors) expectSame(await repeat(door, 'k'), made);
      await house.settled();
      expect(await house.charges()).to.have.length(1);
    } finally {
      open();
      await other.stop();
      await closeAndAudit(house);
    }
  });
});
