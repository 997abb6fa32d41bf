import { expect } from 'chai';
import type { EndpointEntry } from '../../src/core/configuration.js';
import type { Context } from '../../src/pipeline/stage.js';
import type { Services } from '../../src/pipeline/services.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { route } from '../../src/stages/route.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { chat, errorOf } from '../helpers/ask.js';
import { until } from '../helpers/until.js';
import type { Capability, Upstream } from '../../src/core/model.js';

describe('the stage route', () => {
  let acme: OpenaiGateway;
  const messages = [{ role: 'user', content: 'Hello!' }];

  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  shared:
    owner: acme
    capabilities: [chat]
    price: free
    upstreams: [{ provider: acme, model: left, weight: 3 }, { provider: acme, model: right, weight: 1 }]
  failing:
    owner: acme
    capabilities: [chat]
    price: free
    upstreams: [{ provider: acme, model: broken }, { provider: acme, model: second }]
`,
    });
  });
  after(() => acme.close());

  for (const model of ['nobody', 'ACME-CHAT', '__proto__', 'acme-chat ']) {
    it(`refuses the unknown model "${model}"`, async () => {
      const answer = await chat(acme, { model, messages });
      expect(answer.status).to.equal(400);
      expect(errorOf(answer)).to.include({ code: 'model_not_found', param: 'model' });
      expect(errorOf(answer).message).to.include(`"${model}"`);
    });
  }

  it('refuses a model of the wrong type', async () => {
    const { configuration } = acme.gateway;
    const [chatting] = configuration.models.values();
    if (!chatting) throw new Error('There is no model.');
    const painter = { ...chatting, id: 'painter', capabilities: new Set<Capability>(['image']) };
    const services: Partial<Services> = {
      configuration: { ...configuration, models: new Map([['painter', painter]]) },
    };
    const endpoint = configuration.endpoints[0] as EndpointEntry;
    const middleware = route(MODALITIES).create(
      { capability: 'chat' },
      services as Services,
      endpoint,
    );
    const request = { format: 'chat-completion', body: { model: 'painter', messages } };
    const caller = { key_id: 'k', account_id: 'a', models: undefined };
    const state = { request_id: 'r', request, caller };
    const walk = async () => middleware({ state } as Context, () => Promise.resolve());
    const refused = await walk().then(
      () => expect.fail('it was let through'),
      (error: unknown) => error,
    );
    expect(refused).to.include({
      code: 'unsupported_capability',
      message: 'The model "painter" does not do chat.',
      param: 'model',
      status: 400,
    });
  });

  it('lets a limited key use its models and no other', async () => {
    const { store } = acme.gateway;
    const terms = { models: ['shared', 'gone'] };
    const { secret } = await store.createKey(acme.account.id, 'narrow', terms);
    const narrow = { ...acme, secret };
    expect((await chat(narrow, { model: 'shared', messages })).status).to.equal(200);
    const refused = await chat(narrow, { model: 'failing', messages });
    expect(refused.status).to.equal(400);
    expect(errorOf(refused)).to.include({ code: 'model_not_allowed', param: 'model' });
    const unknown = await chat(narrow, { model: 'gone', messages });
    expect(errorOf(unknown)).to.include({ code: 'model_not_found' });
  });

  it('does not record "no model" for a request that is refused after its model was found', async () => {
    const { store } = acme.gateway;
    const { secret } = await store.createKey(acme.account.id, 'other', { models: ['shared'] });
    const not_allowed = await chat({ ...acme, secret }, { model: 'failing', messages });
    const seen = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];
    const not_fitting = await chat(acme, {
      model: 'failing',
      messages: [{ role: 'user', content: seen }],
    });
    for (const refused of [not_allowed, not_fitting]) {
      const id = refused.headers.get('x-request-id') ?? '';
      await until(async () => (await store.requests.one(id)) !== undefined, 'its record');
      const record = await store.requests.one(id);
      expect(record).to.include({ status: 400, model: 'failing', provider: null });
    }
  });

  it('asks the next upstream when one fails', async () => {
    const asked = acme.upstream.requests.length;
    expect((await chat(acme, { model: 'failing', messages })).status).to.equal(200);
    const models = acme.upstream.requests.slice(asked).map(({ json }) => (json as Upstream).model);
    expect(models).to.deep.equal(['broken', 'second']);
  });

  it('shares the calls of one model among its upstreams by weight', async () => {
    const asked = acme.upstream.requests.length;
    const talks = Array.from({ length: 60 }, (_, at) => [{ role: 'user', content: `Talk ${at}` }]);
    await Promise.all(talks.map((one) => chat(acme, { model: 'shared', messages: one })));
    const models = acme.upstream.requests.slice(asked).map(({ json }) => (json as Upstream).model);
    expect(new Set(models)).to.deep.equal(new Set(['left', 'right']));
  });
});
