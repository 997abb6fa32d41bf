import { expect } from 'chai';
import fc from 'fast-check';
import type { EndpointEntry } from '../../src/core/configuration.js';
import type { Context } from '../../src/pipeline/stage.js';
import type { Services } from '../../src/pipeline/services.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { orderByWeight, route } from '../../src/stages/route.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { chat, errorOf } from '../helpers/ask.js';
import { until } from '../helpers/until.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';
import type { Capability, Upstream } from '../../src/core/model.js';

const provider = providerAt('http://127.0.0.1');

/** Upstreams called 0, 1, 2, … with these weights. */
function weighted(weights: readonly (number | undefined)[]): Upstream[] {
  return weights.map((weight, at) => upstreamAt(provider, { model: String(at), weight }));
}

function names(upstreams: readonly Upstream[]): number[] {
  return upstreams.map(({ model }) => Number(model));
}

const weights = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 6 });
const mixed = fc.array(fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }), {
  minLength: 1,
  maxLength: 8,
});
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the order of upstreams', () => {
  it('is the order of the file where nothing has a weight', () => {
    const upstreams = weighted([undefined, undefined, undefined]);
    expect(orderByWeight(upstreams, () => 0.99)).to.deep.equal(upstreams);
  });

  it('gives each upstream the share of its weight', () => {
    const DRAWS = 2_000;
    fc.assert(
      fc.property(weights, (shares) => {
        const upstreams = weighted(shares);
        const total = shares.reduce((sum, weight) => sum + weight, 0);
        const firsts = shares.map(() => 0);
        for (let draw = 0; draw < DRAWS; draw += 1) {
          const [first = -1] = names(orderByWeight(upstreams, () => (draw + 0.5) / DRAWS));
          firsts[first] = (firsts[first] ?? 0) + 1;
        }
        for (const [at, weight] of shares.entries()) {
          expect(firsts[at]).to.be.closeTo((DRAWS * weight) / total, 1.5);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('leaves each group of weighted neighbours where it stands', () => {
    fc.assert(
      fc.property(mixed, fc.array(chance, { minLength: 8, maxLength: 8 }), (all, chances) => {
        const drawn = [...chances];
        const order = names(orderByWeight(weighted(all), () => drawn.pop() ?? 0));
        const groups = all.map((_, at) =>
          all.slice(0, at + 1).findLastIndex((w) => w === undefined),
        );
        expect([...order].sort((a, b) => a - b)).to.deep.equal([...all.keys()]);
        expect(order.map((name) => groups[name])).to.deep.equal(groups);
      }),
    );
  });

  it('orders the rest of a group by weight too', () => {
    const chances = [0.95, 0.1];
    expect(names(orderByWeight(weighted([5, 4, 1]), () => chances.shift() ?? 0))).to.deep.equal([
      2, 0, 1,
    ]);
  });
});

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
    await Promise.all(Array.from({ length: 60 }, () => chat(acme, { model: 'shared', messages })));
    const models = acme.upstream.requests.slice(asked).map(({ json }) => (json as Upstream).model);
    expect(new Set(models)).to.deep.equal(new Set(['left', 'right']));
  });
});
