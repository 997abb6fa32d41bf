import { expect } from 'chai';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { until } from '../helpers/until.js';
import { chatJson, chatSse } from '../helpers/upstream.js';

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
/** Nothing listens at this port, so that its calls fail before they are sent. */
const SETTINGS = 'headers: { upstream: true }';
const FAILING = 'http://127.0.0.1:9/v1';

const MODELS = `
  cheap:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: down, model: a, weight: 1 }, { provider: down, model: b, weight: 1 }]
    limits: { max_tokens: 100 }
    price: { input_per_million: 1, output_per_million: 2 }
    fallback: [fast]
  dear:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: up, model: c }]
    limits: { max_tokens: 100 }
    price: { input_per_million: 10, output_per_million: 20 }
  fast: { alias: dear }
`;

const BODY = { model: 'cheap', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 };

describe('a fallback by the name of a model', () => {
  let paid: PaidGateway;
  before(async () => {
    paid = await startPaidGateway(MODELS, {
      settings: SETTINGS,
      providers: `  down: { uses: openai, base_url: '${FAILING}', api_key: sk-down }`,
    });
    paid.step = chatJson('Hi', { usage: USAGE });
  });
  after(() => paid.close());

  const rows = async () => paid.gateway.store.ledger(paid.account.id, { limit: 100 });

  it('is charged at the price of the model that served, and held at it before', async () => {
    let release = () => {};
    const promise = new Promise<void>((resolve) => (release = resolve));
    paid.step = { ...chatJson('Hi', { usage: USAGE }), hold: promise };
    const asked = paid.post('/v1/chat/completions', BODY);
    await until(() => paid.upstream.requests.length === 1, 'the call');
    const held_nano = (await paid.gateway.store.account(paid.account.id))?.held_nano ?? 0n;
    release();
    const answer = await asked;
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.include('"model":"cheap"');
    expect(answer.headers.get('tollgate-model')).to.equal('dear');
    expect(answer.headers.get('tollgate-upstream')).to.equal('up');
    expect(held_nano > 50n * 20_000n).to.equal(true);
    const row = (await rows()).at(-1);
    expect([row?.model, row?.amount_nano]).to.deep.equal(['dear', -(10n * 10_000n + 5n * 20_000n)]);
    paid.step = chatJson('Hi', { usage: USAGE });
  });

  it('answers a stream under the name that the client asked for', async () => {
    paid.step = chatSse(['Hi']);
    const { text } = await paid.post('/v1/chat/completions', { ...BODY, stream: true });
    expect(text).to.include('"model":"cheap"').and.include('[DONE]');
    expect((await rows()).at(-1)?.model).to.equal('dear');
    paid.step = chatJson('Hi', { usage: USAGE });
  });

  it('is left out for a key that may not use the other model', async () => {
    const { store } = paid.gateway;
    const count = (await rows()).length;
    const { secret } = await store.createKey(paid.account.id, 'k', { models: ['cheap'] });
    const headers = { authorization: `Bearer ${secret}` };
    const { status } = await paid.post('/v1/chat/completions', BODY, headers);
    expect(status).to.equal(502);
    expect(await rows()).to.have.length(count);
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});
