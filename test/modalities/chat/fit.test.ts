import { expect } from 'chai';
import { ask, chat, errorOf, type Answer } from '../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../helpers/openai-gateway.js';

const messages = [{ role: 'user', content: 'Hello!' }];
const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }] };
const MODEL = 'owner: acme, capabilities: [chat], upstreams: [{ provider: acme }]';
/** Dollars a million tokens of output; input is free, so that a hold is a number of tokens. */
const PRICE = 'price: { input_per_million: 0, output_per_million: 1 }';

const MODELS = `
  agent: { ${MODEL}, ${PRICE}, limits: { max_tokens: 32000, default_max_tokens: 2000 } }
  small: { ${MODEL}, ${PRICE}, limits: { max_tokens: 500 } }
  plain: { ${MODEL}, ${PRICE} }
  chooser: { ${MODEL}, ${PRICE}, limits: { max_tokens: 32000 } }
`;

/** What so many tokens of output cost. */
const tokens = (count: number): bigint => BigInt(count) * 1_000n;

describe('the limit of output tokens', () => {
  let acme: OpenaiGateway;
  /** The account has what 40,000 tokens cost. */
  before(async () => {
    const yaml = 'limits: { default_max_tokens: 1000 }';
    acme = await startOpenaiGateway({ models: MODELS, yaml }, { credit: '0.04' });
  });
  after(() => acme.close());
  afterEach(() => acme.gateway.store.release('others', acme.account.id));

  /** What other requests hold of the balance. */
  const holdOthers = (count: number, key_id?: string) =>
    acme.gateway.store.hold('others', acme.account.id, tokens(count), key_id);
  const sent = (): unknown => acme.sent().max_tokens;

  for (const [model, limit] of [
    ['agent', 2000],
    ['small', 500],
    ['plain', 1000],
    ['chooser', 1000],
  ] as const) {
    it(`is ${limit} at the model "${model}" for a client that names none`, async () => {
      const answer = await chat(acme, { model, messages });
      expect([sent(), answer.headers.get('tollgate-adjusted')]).to.deep.equal([limit, null]);
    });
  }

  const post = (path: string, body: object): Promise<Answer> =>
    ask(acme, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const FORMATS: [string, string, object][] = [
    ['max_tokens', '/v1/chat/completions', { model: 'agent', messages, max_tokens: 64_000 }],
    [
      'max_completion_tokens',
      '/openai/v1/chat/completions',
      { model: 'agent', messages, max_completion_tokens: 64_000 },
    ],
    [
      'max_output_tokens',
      '/v1/responses',
      { model: 'agent', input: 'Hello!', max_output_tokens: 64_000 },
    ],
    [
      'maxOutputTokens',
      '/v1beta/models/agent:generateContent',
      { ...HELLO, generationConfig: { maxOutputTokens: 64_000 } },
    ],
  ];
  for (const [field, path, body] of FORMATS) {
    it(`is cut to that of the model, and named ${field}`, async () => {
      const answer = await post(path, body);
      expect(answer.status).to.equal(200);
      expect([sent(), answer.headers.get('tollgate-adjusted')]).to.deep.equal([32_000, field]);
    });
  }

  it('is refused in the words that Claude Code recovers by, where it is a message', async () => {
    const answer = await post('/v1/messages', { model: 'agent', messages, max_tokens: 64_000 });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.include('max_tokens: 64000 > 32000, which is the maximum allowed');
  });

  it('is lowered where parallel requests hold what it lacks, and the hold with it', async () => {
    await holdOthers(30_000);
    const answer = await chat(acme, { model: 'agent', messages, max_tokens: 32_000 });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('tollgate-adjusted')).to.equal('max_tokens');
    const balance = (await acme.gateway.store.account(acme.account.id))?.balance_nano ?? 0n;
    // What was left, and what the answer before the last charge had cost.
    expect(sent()).to.be.within(9_000, 10_000);
    expect(balance > tokens(39_900)).to.equal(true);
  });

  it('is lowered for each choice where there are several', async () => {
    await holdOthers(30_000);
    const answer = await chat(acme, { model: 'agent', messages, max_tokens: 8_000, n: 4 });
    expect(answer.status).to.equal(200);
    expect(sent()).to.be.within(2_400, 2_500);
  });

  it('is never lowered below what a client gets that names none', async () => {
    await holdOthers(38_500);
    const answer = await chat(acme, { model: 'agent', messages, max_tokens: 32_000 });
    expect(answer.status).to.equal(402);
    expect(errorOf(answer).message).to.match(/waiting for them to end may help\. With max_tokens/u);
  });

  it('is not lowered where the balance itself is too small, but the 402 says what fits', async () => {
    const asking = (max_tokens: number) => chat(acme, { model: 'plain', messages, max_tokens });
    const refused = await asking(64_000);
    const { message, code } = errorOf(refused);
    expect([refused.status, code]).to.deep.equal([402, 'insufficient_balance']);
    const [, most = ''] =
      /With max_tokens of at most (\d+) it would be admitted/u.exec(message) ?? [];
    expect(Number(most)).to.be.within(39_000, 40_000);
    expect((await asking(Number(most) + 1)).status).to.equal(402);
    expect((await asking(Number(most))).status).to.equal(200);
  });

  it('that a 402 says fits the balance and the limit of the key', async () => {
    const { store } = acme.gateway;
    const { id } = acme.account;
    const { secret } = await store.createKey(id, 'pocket', { limit_nano: tokens(15_000) });
    const asking = (max_tokens: number) =>
      chat({ ...acme, secret }, { model: 'plain', messages, max_tokens });
    expect(errorOf(await asking(20_000)).message).to.match(/With max_tokens of at most 15000 /u);
    await holdOthers(30_000);
    const { message, code } = errorOf(await asking(20_000));
    expect(code).to.equal('key_limit_reached');
    expect(message).to.match(/With max_tokens of at most 9\d{3} /u);
  });

  it('that a 402 says fits what an allowance has left', async () => {
    const { store } = acme.gateway;
    const terms = { allowances: { '2d': tokens(15_000) } } as const;
    const { secret } = await store.createKey(acme.account.id, 'agent', terms);
    const asking = (max_tokens: number) =>
      chat({ ...acme, secret }, { model: 'plain', messages, max_tokens });
    const { message, code } = errorOf(await asking(20_000));
    expect(code).to.equal('allowance_reached');
    expect(message).to.match(/With max_tokens of at most 15000 /u);
    expect((await asking(15_000)).status).to.equal(200);
  });

  for (const [field, path, body] of FORMATS) {
    it(`is called ${field} by a 402 too`, async () => {
      const { store } = acme.gateway;
      await holdOthers(38_500);
      const answer = await post(path, body);
      expect(answer.status).to.equal(402);
      expect(answer.text).to.match(new RegExp(`With ${field} of at most 1\\d{3} `, 'u'));
      expect((await store.verify()).faults).to.deep.equal([]);
    });
  }

  it('leaves nothing to say where not even one token fits', async () => {
    await holdOthers(39_900);
    const poor = await chat({ ...acme, secret: acme.poor }, { model: 'plain', messages });
    expect(errorOf(poor).message).to.match(/the account needs credit\.$/u);
  });
});
