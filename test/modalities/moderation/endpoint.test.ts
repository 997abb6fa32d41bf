import { expect } from 'chai';
import { errorOf } from '../../helpers/ask.js';
import { startPaidGateway, type PaidGateway } from '../../helpers/paid-gateway.js';
import { expectShape } from '../../helpers/schemas.js';
import type { Step } from '../../helpers/upstream.js';

const MODEL =
  'owner: acme, capabilities: [moderation], upstreams: [{ provider: up, model: judge }]';
const MODELS = `
  omni-moderation-latest: { ${MODEL}, price: free }
  paid: { ${MODEL}, price: { input_per_million: 2 }, passthrough: [strict] }
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
`;
const TOKEN_NANO = 2_000n;
const RESULT = { flagged: false, categories: { hate: false }, category_scores: { hate: 0.1 } };

function results(count: number, usage?: object): Step {
  const body = { id: 'm', model: 'judge', results: Array(count).fill(RESULT), usage };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const image = (url: string) => ({ type: 'image_url', image_url: { url } });

describe('POST /v1/moderations', () => {
  let paid: PaidGateway;
  before(async () => {
    paid = await startPaidGateway(MODELS);
  });
  beforeEach(() => {
    paid.step = results(1, { prompt_tokens: 5 });
    paid.upstream.requests.length = 0;
  });
  afterEach(async () => {
    const report = await paid.gateway.store.verify();
    expect([report.open_holds, report.faults]).to.deep.equal([0, []]);
  });
  after(() => paid.close());

  const post = (body: object, headers = {}) => paid.post('/v1/moderations', body, headers);

  /** What a call adds to the ledger. */
  async function costOf(call: () => Promise<unknown>): Promise<bigint[]> {
    const before = (await paid.charged()).length;
    await call();
    return (await paid.charged()).slice(before);
  }

  it("answers in OpenAI's words, by its model where none is named, and charges nothing", async () => {
    const costs = await costOf(async () => {
      const answer = JSON.parse((await post({ input: 'Hello' })).text) as { id: string };
      expectShape('moderation#/$defs/answer', answer);
      expect(answer.id).to.match(/^modr-./u);
      expect(answer).to.deep.include({ model: 'omni-moderation-latest', results: [RESULT] });
    });
    expect(costs).to.deep.equal([]);
    expect(paid.upstream.requests[0]).to.deep.include({ path: '/moderations' });
    expect(paid.upstream.requests[0]?.json).to.deep.equal({ model: 'judge', input: 'Hello' });
  });

  it('takes null in an optional field as if the field were absent', async () => {
    const part = { type: 'text', text: 'Hello', image_url: null };
    const { status, text } = await post({ input: [part], model: null });
    expect(status, text).to.equal(200);
    expect(JSON.parse(text)).to.include({ model: 'omni-moderation-latest' });
    expect(errorOf(await post({ input: null })).param).to.equal('input');
  });

  it('has a result for each text of a list, and one for all parts', async () => {
    paid.step = results(2);
    const texts = await post({ input: ['a', 'b'] });
    expect((JSON.parse(texts.text) as { results: object[] }).results).to.have.length(2);
    paid.step = results(1);
    const input = [{ type: 'text', text: 'a' }, image('https://example.com/a.png')];
    expect((await post({ input })).status).to.equal(200);
    expect(paid.upstream.requests.at(-1)?.json).to.deep.include({ input });
  });

  it('charges what the upstream counted, to the nano-dollar', async () => {
    const costs = await costOf(() => post({ model: 'paid', input: 'Hello' }));
    expect(costs).to.deep.equal([5n * TOKEN_NANO]);
  });

  it('charges an estimate within the hold where nothing was counted', async () => {
    paid.step = results(1);
    const [cost = 0n] = await costOf(() => post({ model: 'paid', input: 'Hello there' }));
    expect(cost > 0n && cost <= 75n * TOKEN_NANO, String(cost)).to.equal(true);
  });

  for (const [what, step] of [
    ['an upstream that fails', { status: 500, body: 'no' }],
    ['too few results', results(0)],
    ['results without categories', { ...results(1), body: '{"results":[{"flagged":true}]}' }],
  ] as const) {
    it(`answers 502 for ${what}, and charges nothing`, async () => {
      paid.step = step;
      const costs = await costOf(async () => {
        expect((await post({ model: 'paid', input: 'Hello' })).status).to.equal(502);
      });
      expect(costs).to.deep.equal([]);
    });
  }

  it('is refused with 402 where the credit is less than the hold', async () => {
    const poor = await paid.gateway.store.createAccount('poor', 1n);
    const { secret } = await paid.gateway.store.createKey(poor.id, 'k');
    const headers = { authorization: `Bearer ${secret}` };
    expect((await post({ model: 'paid', input: 'Hello' }, headers)).status).to.equal(402);
    expect((await post({ input: 'Hello' }, headers)).status).to.equal(200);
  });

  it('sends passthrough fields, and names what it leaves out', async () => {
    const { headers } = await post({ model: 'paid', input: 'a', strict: true, other: 1 });
    expect(headers.get('tollgate-ignored')).to.equal('other');
    expect(paid.upstream.requests[0]?.json).to.include({ strict: true });
  });

  for (const [what, change, code, param] of [
    ['no input', { input: undefined }, 'invalid_request', 'input'],
    ['an empty list', { input: [] }, 'invalid_request', 'input'],
    ['a mixture', { input: ['a', { type: 'text', text: 'b' }] }, 'invalid_request', 'input'],
    ['a text without one', { input: [{ type: 'text' }] }, 'invalid_request', 'input[0].text'],
    [
      'an image without one',
      { input: [{ type: 'image_url' }] },
      'invalid_request',
      'input[0].image_url',
    ],
    [
      'an image at a private address',
      { input: [image('http://127.0.0.1/a.png')] },
      'invalid_request',
      'input[0].image_url.url',
    ],
    ['a model of another kind', { model: 'talk' }, 'unsupported_capability', 'model'],
  ] as const) {
    it(`refuses ${what}, naming the field`, async () => {
      const answer = await post({ input: 'Hello', ...change });
      const error = errorOf(answer);
      expect([answer.status, error.code, error.param]).to.deep.equal([400, code, param]);
      expect(paid.upstream.requests).to.have.length(0);
    });
  }
});
