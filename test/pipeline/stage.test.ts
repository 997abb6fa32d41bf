import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { chat, errorOf, type Answer } from '../helpers/ask.js';
import { until } from '../helpers/until.js';

/** Ways to begin what follows and not to wait for it. */
const FORGETFUL = {
  'gives no promise': '(ctx, next) => { next(); }',
  'is async': 'async (ctx, next) => { next(); }',
  'waits for something else': 'async (ctx, next) => { next(); await null; }',
};
const WRONG = {
  'throws after it has begun what follows': '(ctx, next) => { next(); throw new Error("late"); }',
  'rejects after it has begun what follows':
    'async (ctx, next) => { next(); throw new Error("late"); }',
  'calls next twice': '(ctx, next) => { next(); next(); }',
  'calls next twice and waits for the second': 'async (ctx, next) => { next(); await next(); }',
};

const fileOf = (run: string): string =>
  `export default { name: 'own', shape: { needs: [], gives: [] }, create: () => ${run} };`;

describe("an operator's stage that does not wait for what follows", () => {
  let acme: OpenaiGateway;
  const unheard: unknown[] = [];
  const hear = (error: unknown): void => void unheard.push(error);

  beforeEach(() => void process.on('unhandledRejection', hear));
  afterEach(async () => {
    process.off('unhandledRejection', hear);
    await acme.close();
    expect(unheard.splice(0)).to.deep.equal([]);
  });

  async function start(run: string, after = 'auth'): Promise<void> {
    const stages = ['auth', 'validate: chat-completion', 'route: { capability: chat }'];
    const row = [...stages, 'balance', 'transform: chat', 'meter'].flatMap((stage) =>
      stage.startsWith(after) ? [stage, './own.mjs'] : [stage],
    );
    const yaml = `endpoints: { chat: { at: "POST /v1/chat/completions", stages: [${row.join(', ')}] } }\n`;
    acme = await startOpenaiGateway({ yaml }, { files: { 'own.mjs': fileOf(run) } });
  }

  const say = (model: string, more: object = {}): Promise<Answer> =>
    chat(acme, { model, messages: [{ role: 'user', content: 'Hello!' }], ...more });

  async function charges(): Promise<number> {
    const { store } = acme.gateway;
    const quiet = async () => (await store.account(acme.account.id))?.held_nano === 0n;
    await until(quiet, 'no money is held');
    expect((await store.verify()).faults).to.deep.equal([]);
    const entries = await store.ledger(acme.account.id, { limit: 10 });
    return entries.filter(({ kind }) => kind === 'charge').length;
  }

  for (const [how, run] of Object.entries(FORGETFUL)) {
    it(`and ${how} takes nothing from an answer`, async () => {
      await start(run);
      expect((await say('acme-chat')).status).to.equal(200);
      expect((await say('acme-chat', { stream: true })).text).to.match(/data: \[DONE\]\n\n$/u);
      expect(await charges()).to.equal(2);
    });

    it(`and ${how} hides no failure, and ends nothing else`, async () => {
      await start(run);
      expect((await say('acme-broken')).status).to.equal(502);
      expect((await say('acme-cut')).status).to.equal(502);
      expect(await charges()).to.equal(0);
    });
  }

  it('and gives no promise hides no refusal that comes at once', async () => {
    await start(FORGETFUL['gives no promise'], 'validate');
    expect(errorOf(await say('nobody'))).to.include({ code: 'model_not_found' });
  });

  for (const [how, run] of Object.entries(WRONG)) {
    it(`and ${how} is answered with 500, and leaves no money held`, async () => {
      await start(run, 'balance');
      expect((await say('acme-chat')).status).to.equal(500);
      expect(await charges()).to.be.at.most(1);
    });
  }

  it('can still answer after a later stage failed', async () => {
    const body = '{ error: { message: "Later.", type: "x", code: "later", param: null } }';
    await start(
      `async (ctx, next) => { try { await next(); } catch { ctx.status = 503; ctx.body = ${body}; } }`,
    );
    expect(errorOf(await say('acme-broken'))).to.include({ code: 'later' });
  });

  it('must be a function', async () => {
    const opening = start('"nothing"').catch((error: unknown) => String(error));
    expect(await opening).to.equal('Error: The stage own makes no function to be run.');
    await start(FORGETFUL['is async']);
  });
});

/** A stage in place of `validate: messages`, which reads the body itself. */
const READER = `export default {
  name: 'reader',
  shape: { needs: ['caller'], gives: ['request:messages'], records: true, format: 'messages' },
  create: () => async (ctx, next) => {
    let text = '';
    for await (const part of ctx.req) text += part;
    ctx.state.request = { format: 'messages', body: JSON.parse(text) };
    await next();
  },
};`;

describe("an operator's stage in place of a built-in one", () => {
  let acme: OpenaiGateway;
  before(async () => {
    const stages = 'auth, ./reader.mjs, route: { capability: chat }, transform: count-tokens';
    const yaml = `endpoints: { own: { at: "POST /own", stages: [${stages}] } }\n`;
    acme = await startOpenaiGateway({ yaml }, { files: { 'reader.mjs': READER } });
  });
  after(() => acme.close());

  const post = (secret: string): Promise<Response> =>
    fetch(`${acme.url}/own`, {
      method: 'POST',
      headers: { 'x-api-key': secret },
      body: JSON.stringify({
        model: 'acme-chat',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hello!' }],
      }),
    });

  it('leaves a record of each request, and finds the key where its clients send it', async () => {
    const answer = await post(acme.secret);
    expect(await answer.json()).to.have.keys('input_tokens');
    const { requests } = acme.gateway.store;
    await until(async () => (await requests.page({ limit: 5 })).length === 1, 'a record is kept');
    const [record] = await requests.page({ limit: 5 });
    expect(record).to.include({ endpoint: 'own', model: 'acme-chat', status: 200 });
  });

  it('has the errors of its format', async () => {
    const answer = await post('tg-wrong');
    expect(answer.status).to.equal(401);
    expect(await answer.json()).to.deep.include({ type: 'error' });
  });
});
