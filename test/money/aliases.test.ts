import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { ask } from '../helpers/ask.js';
import { chatJson, chatSse, type Step } from '../helpers/upstream.js';

const MODELS = `
  m:
    owner: acme
    description: Answers short questions.
    capabilities: [chat]
    upstreams: [{ provider: up, model: up-m }]
    price: { input_per_million: 1, output_per_million: 2 }
  vector: { owner: acme, capabilities: [embedding], upstreams: [{ provider: up }], price: { input_per_million: 1 } }
  film: { owner: acme, capabilities: [video], upstreams: [{ provider: simulator }], price: { per_video_second: 0.1 } }
  mine: { owner: acme, capabilities: [chat], upstreams: [{ provider: up, model: up-m }], price: { input_per_million: 1, output_per_million: 2 }, as: [claude-mine, claude-first] }
  fast: { alias: m }
  places: { alias: vector }
  movie: { alias: film }
`;

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const USAGE = { usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } };

/** The model of an answer of each client format, whole and streamed. */
const FORMATS: [path: string, body: object, step: Step, named: string][] = [
  ['/v1/chat/completions', { messages: MESSAGES }, chatJson('Hi', USAGE), '"model":"fast"'],
  ['/v1/chat/completions', { messages: MESSAGES, stream: true }, chatSse(['Hi']), '"model":"fast"'],
  ['/openai/v1/chat/completions', { messages: MESSAGES }, chatJson('Hi', USAGE), '"model":"fast"'],
  ['/v1/messages', { messages: MESSAGES, max_tokens: 9 }, chatJson('Hi', USAGE), '"model":"fast"'],
  ['/v1/responses', { input: 'Hi' }, chatJson('Hi', USAGE), '"model":"fast"'],
  [
    '/v1beta/models/fast:generateContent',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    chatJson('Hi', USAGE),
    '"modelVersion":"fast"',
  ],
];

describe('an alias of a model', () => {
  let paid: PaidGateway;
  before(async () => (paid = await startPaidGateway(MODELS)));
  after(() => paid.close());

  const newest = async () => {
    const { store } = paid.gateway;
    return (await store.ledger(paid.account.id, { limit: 100 })).at(-1);
  };

  for (const [path, body, step, named] of FORMATS) {
    const { stream } = body as { stream?: boolean };
    it(`is the model of the answer at ${path}${stream ? ' as a stream' : ''}, and its model is charged`, async () => {
      paid.step = step;
      const answer = await paid.post(path, path.includes(':') ? body : { model: 'fast', ...body });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.text).to.include(named).and.not.include('"m"');
      expect(paid.upstream.requests.at(-1)?.json).to.include({ model: 'up-m' });
      expect((await newest())?.model).to.equal('m');
    });
  }

  it('is the model of an answer with embeddings', async () => {
    paid.step = {
      headers: { 'content-type': 'application/json' },
      body: '{"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":5,"total_tokens":5}}',
    };
    const { text } = await paid.post('/v1/embeddings', { model: 'places', input: 'Hi' });
    expect(text).to.include('"model":"places"');
    expect((await newest())?.model).to.equal('vector');
  });

  it('leads to a video task, whose addresses keep its name', async () => {
    const submitted = await paid.post('/v1/queue/movie', { prompt: 'A sea' });
    const { status_url, request_id } = JSON.parse(submitted.text) as Record<string, string>;
    expect(status_url).to.equal(`/v1/queue/movie/requests/${request_id}/status`);
    const status = await ask(paid, status_url ?? '');
    expect(status.status, status.text).to.equal(200);
    const own = await ask(paid, `/v1/queue/film/requests/${request_id}/status`);
    expect(own.status).to.equal(200);
  });

  it('is listed to the clients of each format, and has an entry of its own', async () => {
    const listed = async (path: string, headers = {}): Promise<string> =>
      (await ask(paid, path, { headers })).text;
    expect(await listed('/v1/models')).to.include('{"id":"fast","object":"model"');
    expect(await listed('/v1/models', { 'anthropic-version': '1' })).to.include(
      '"last_id":"claude-first"',
    );
    const gemini = await listed('/v1beta/models');
    expect(gemini).to.include('"name":"models/fast"').and.include('Answers short questions.');
    expect(await listed('/v1/models/fast')).to.include('"id":"fast"');
  });

  it('is allowed to a key that may use its model, and alone to one that may use the alias', async () => {
    const { store } = paid.gateway;
    paid.step = chatJson('Hi', USAGE);
    const statuses = async (...models: string[]): Promise<number[]> => {
      const { secret } = await store.createKey(paid.account.id, 'k', { models });
      const headers = { authorization: `Bearer ${secret}` };
      const asked = ['fast', 'm', 'places'].map(async (model) => {
        const { status } = await paid.post(
          '/v1/chat/completions',
          { model, messages: MESSAGES },
          headers,
        );
        return status;
      });
      return Promise.all(asked);
    };
    expect(await statuses('m')).to.deep.equal([200, 200, 400]);
    expect(await statuses('fast')).to.deep.equal([200, 400, 400]);
  });

  it('of `as` is listed to clients of the Messages API alone, under the name of its model', async () => {
    const anthropic = new Anthropic({ apiKey: paid.secret, baseURL: paid.url, maxRetries: 0 });
    const page = await anthropic.models.list({ limit: 1_000 });
    const listed = page.data.map(({ id, display_name }) => `${id}: ${display_name}`);
    expect(listed).to.include.members(['claude-mine: mine', 'claude-first: mine', 'fast: fast']);
    expect(page.hasNextPage()).to.equal(false);
    const { id, display_name } = await anthropic.models.retrieve('claude-mine');
    expect([id, display_name]).to.deep.equal(['claude-mine', 'mine']);
    for (const path of ['/v1/models', '/v1beta/models', '/openai/v1/models']) {
      const { text } = await ask(paid, path);
      expect(text, path).to.include('mine').and.not.include('claude-mine');
    }
  });

  it('of `as` was not found by Claude Code, which lists models by a bearer key', async () => {
    const headers = {
      authorization: `Bearer ${paid.secret}`,
      'anthropic-version': '2023-06-01',
      'user-agent': 'claude-code/2.1.330',
    };
    const { text } = await ask(paid, '/v1/models?limit=1000', { headers });
    const { data, has_more } = JSON.parse(text) as { data: { id: string }[]; has_more: boolean };
    const kept = data.map(({ id }) => id).filter((id) => /claude|anthropic/u.test(id));
    expect([kept, has_more]).to.deep.equal([['claude-mine', 'claude-first'], false]);
  });

  it('of `as` can be called in every format, and its model is charged', async () => {
    for (const path of ['/v1/messages', '/v1/chat/completions']) {
      paid.step = chatJson('Hi', USAGE);
      const body = { model: 'claude-mine', messages: MESSAGES, max_tokens: 9 };
      const answer = await paid.post(path, body);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.text).to.include('"model":"claude-mine"');
      expect((await newest())?.model).to.equal('mine');
    }
  });
});
