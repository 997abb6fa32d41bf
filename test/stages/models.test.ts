import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { ask, errorOf } from '../helpers/ask.js';
import { expectShape } from '../helpers/schemas.js';

describe('the list of models', () => {
  let acme: OpenaiGateway;

  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  google/dated: { owner: google, capabilities: [chat], upstreams: [{ provider: acme }], created: 2024-07-18, price: free }
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

  it('gives a model the date in the file, else the date of the file', async () => {
    const { text } = await ask(acme, '/v1/models');
    const { data } = JSON.parse(text) as { data: { id: string; created: number }[] };
    const created = new Map(data.map((model) => [model.id, model.created]));
    expect(created.get('google/dated')).to.equal(Date.UTC(2024, 6, 18) / 1_000);
    expect(created.get('acme-chat')).to.be.within(
      Date.UTC(2024, 6, 19) / 1_000,
      Date.now() / 1_000,
    );
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
});
