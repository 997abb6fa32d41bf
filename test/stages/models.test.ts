import { expect } from 'chai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { NotFoundError } from 'openai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { ask, errorOf } from '../helpers/ask.js';
import { expectShape } from '../helpers/schemas.js';

/** In place of the test account's. */
const NO_KEY = { authorization: '' };

describe('the list of models', () => {
  let acme: OpenaiGateway;

  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  google/dated: { owner: google, capabilities: [chat], upstreams: [{ provider: acme }], created: 2024-07-18, price: free, limits: { context: 1000, max_tokens: 100 } }
`,
      yaml: '',
    });
  });
  after(() => acme.close());

  it('names every model of the file, in its order, with the key of its owner', async () => {
    const { status, text } = await ask(acme, '/v1/models');
    expect(status).to.equal(200);
    const { data } = JSON.parse(text) as { data: { id: string; owned_by: string }[] };
    expectShape('model-list', JSON.parse(text));
    expect(data.map(({ id, owned_by }) => `${owned_by} ${id}`)).to.deep.equal([
      'acme acme-chat',
      'acme acme-all',
      'acme acme-free',
      'acme acme-broken',
      'acme acme-cut',
      'google google/dated',
    ]);
  });

  it('lists to a limited key its models only', async () => {
    const terms = { models: ['acme-free', 'google/dated', 'no-more'] };
    const { secret } = await acme.gateway.store.createKey(acme.account.id, 'narrow', terms);
    const { text } = await ask({ ...acme, secret }, '/v1/models');
    expectShape('model-list', JSON.parse(text));
    const { data } = JSON.parse(text) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).to.deep.equal(['acme-free', 'google/dated']);
  });

  it('gives a model the date in the file, else the same date in each process', async () => {
    const { text } = await ask(acme, '/v1/models');
    const { data } = JSON.parse(text) as { data: { id: string; created: number }[] };
    const created = new Map(data.map((model) => [model.id, model.created]));
    expect(created.get('google/dated')).to.equal(Date.UTC(2024, 6, 18) / 1_000);
    expect(created.get('acme-chat')).to.equal(Date.UTC(2024, 0, 1) / 1_000);
  });

  it('shows no upstreams, prices or keys', async () => {
    const { text } = await ask(acme, '/v1/models');
    expect(text).not.to.match(/sk-acme|127\.0\.0\.1|price|broken"?,"provider/u);
  });

  it('is shown to accounts without a balance, and refused without a key', async () => {
    expect((await ask({ ...acme, secret: acme.poor }, '/v1/models')).status).to.equal(200);
    const refused = await ask({ ...acme, secret: 'tg-wrong' }, '/v1/models');
    expect(refused.status).to.equal(401);
    expect(errorOf(refused).code).to.equal('invalid_api_key');
  });

  const openai = (at = '/v1'): OpenAI =>
    new OpenAI({ apiKey: acme.secret, baseURL: `${acme.url}${at}`, maxRetries: 0 });
  const anthropic = (): Anthropic =>
    new Anthropic({ apiKey: acme.secret, baseURL: acme.url, maxRetries: 0 });
  const google = (apiVersion: string): GoogleGenAI =>
    new GoogleGenAI({ apiKey: acme.secret, httpOptions: { baseUrl: acme.url, apiVersion } });
  const DATED = { id: 'google/dated', object: 'model', created: 1_721_260_800, owned_by: 'google' };

  it("gives OpenAI's client one model, in the contract's words, at both of its addresses", async () => {
    for (const client of [openai(), openai('/openai/v1')]) {
      expect(await client.models.retrieve('google/dated')).to.deep.equal(DATED);
      const listed = [];
      for await (const model of client.models.list()) listed.push(model.id);
      expect(listed).to.include.members(['acme-chat', 'google/dated']);
      const error: unknown = await client.models.retrieve('nobody').catch((thrown) => thrown);
      expect(error).to.be.instanceOf(NotFoundError);
      expect(error).to.include({ code: 'model_not_found', param: 'model' });
    }
  });

  it('finds a model whose ID has a slash, raw and encoded', async () => {
    for (const id of ['google/dated', 'google%2Fdated', 'google%2fdated']) {
      for (const path of ['/v1/models', '/openai/v1/models']) {
        const { status, text } = await ask(acme, `${path}/${id}`);
        expect([status, JSON.parse(text)]).to.deep.equal([200, DATED]);
      }
    }
  });

  it("lists models to Anthropic's client in its own shape, which OpenAI's reads too", async () => {
    const listed = await anthropic().models.list();
    expect(listed.data.map(({ id }) => id)).to.include('google/dated');
    expect([listed.has_more, listed.first_id, listed.last_id]).to.deep.equal([
      false,
      'acme-chat',
      'google/dated',
    ]);
    const dated = await anthropic().models.retrieve('google/dated');
    expect(dated).to.deep.equal({
      ...DATED,
      type: 'model',
      display_name: 'google/dated',
      created_at: '2024-07-18T00:00:00.000Z',
      max_input_tokens: 1_000,
      max_tokens: 100,
    });
    const headers = { 'anthropic-version': '2023-06-01' };
    const { text } = await ask(acme, '/v1/models?limit=1000', { headers });
    expectShape('anthropic-models', JSON.parse(text));
    const missing: unknown = await anthropic()
      .models.retrieve('nobody')
      .catch((thrown) => thrown);
    expect(missing).to.have.nested.property('error.error.type', 'not_found_error');
  });

  it("lists models to Google's client in its own shape, under both versions", async () => {
    for (const version of ['v1beta', 'v1']) {
      const { models } = google(version);
      const listed = [];
      for await (const model of await models.list()) listed.push(model.name);
      expect(listed).to.include.members(['models/acme-chat', 'models/google/dated']);
      const dated = await models.get({ model: 'google/dated' });
      expect(dated).to.deep.include({
        name: 'models/google/dated',
        displayName: 'google/dated',
        inputTokenLimit: 1_000,
        outputTokenLimit: 100,
        supportedActions: ['generateContent', 'streamGenerateContent', 'countTokens'],
      });
      const missing: unknown = await models.get({ model: 'nobody' }).catch((thrown) => thrown);
      expect(missing).to.have.property('status', 404);
      expect(String(missing)).to.include('"status":"NOT_FOUND"');
    }
    const { text } = await ask(acme, `/v1beta/models?key=${acme.secret}`, { headers: NO_KEY });
    expectShape('gemini-models', JSON.parse(text));
  });

  it('says to each family in its own shape that a key is wrong', async () => {
    const errors = ['/v1/models', '/v1beta/models'].flatMap((path) =>
      [{ 'x-api-key': 'no' }, { 'x-goog-api-key': 'no' }, { authorization: 'Bearer no' }].map(
        async (headers) => {
          const response = await fetch(`${acme.url}${path}`, { headers: headers as HeadersInit });
          expect(response.status).to.equal(401);
          const { type, error } = (await response.json()) as { type?: string; error: object };
          return type ?? Object.keys(error).join();
        },
      ),
    );
    const [ofAnthropic, ofGoogle, ours] = [
      'error',
      'code,message,status',
      'message,type,code,param',
    ];
    expect((await Promise.all(errors)).slice(0, 3)).to.deep.equal([ofAnthropic, ofGoogle, ours]);
    expect((await Promise.all(errors)).slice(3)).to.deep.equal([ofGoogle, ofGoogle, ofGoogle]);
  });

  it('hides from a limited key the models that it may not use, as if there were none', async () => {
    const terms = { models: ['acme-free'] };
    const { secret } = await acme.gateway.store.createKey(acme.account.id, 'alone', terms);
    for (const path of ['/v1/models', '/v1beta/models']) {
      expect((await ask({ ...acme, secret }, `${path}/acme-free`)).status).to.equal(200);
      expect((await ask({ ...acme, secret }, `${path}/acme-chat`)).status).to.equal(404);
    }
  });
});
