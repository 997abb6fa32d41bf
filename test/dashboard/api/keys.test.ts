import { expect } from 'chai';
import type { KeyShape } from '../../../src/actions/shapes.js';
import { chat } from '../../helpers/ask.js';
import { onEachApiGateway, type Client } from './helpers/api-gateway.js';

type NewKey = KeyShape & { secret: string };

const HELLO = { model: 'acme-chat', messages: [{ role: 'user', content: 'Hello' }] };

onEachApiGateway('the API of keys', { yaml: 'limits: { keys: 3 }' }, (here) => {
  const { ground } = here;
  let ann: Client;

  beforeEach(async () => {
    ann = await here.house.signIn('ann', { credit_nano: 1_000_000_000n });
  });

  const create = async (body: object): Promise<NewKey> =>
    (await ann.send('POST', '/api/keys', body)).as<NewKey>('NewKey');
  const list = async (client = ann): Promise<KeyShape[]> =>
    (await client.get('/api/keys')).as<{ data: KeyShape[] }>('KeyList').data;

  it('makes a key that works, and shows its secret once', async () => {
    const { secret, ...key } = await create({ name: '  laptop ' });
    expect(key).to.deep.equal({
      id: key.id,
      name: 'laptop',
      prefix: secret.slice(0, key.prefix.length),
      created: new Date(ground.now_ms).toISOString(),
      last_used: null,
      expires: null,
      revoked: null,
      models: null,
      limit: null,
      spent: null,
      left: null,
      rates: null,
      allowances: [],
      previous_until: null,
    });
    expect((await chat({ url: here.house.url, secret }, HELLO)).status).to.equal(200);
    const again = await ann.get('/api/keys');
    expect(again.text).not.to.include(secret);
    const [listed] = again.as<{ data: KeyShape[] }>('KeyList').data;
    expect(listed).to.deep.equal({ ...key, last_used: new Date(ground.now_ms).toISOString() });
  });

  it('makes a key with an end, models and a limit of its own', async () => {
    const key = await create({
      name: 'ci',
      expires_in_s: 3600,
      models: ['acme-chat'],
      limit: '0.5',
    });
    expect(key).to.include({
      expires: new Date(ground.now_ms + 3_600_000).toISOString(),
      limit: '0.50',
      spent: '0.00',
    });
    expect(key.models).to.deep.equal(['acme-chat']);
    const expires = new Date(ground.now_ms + 5_000).toISOString();
    expect((await create({ name: 'by date', expires })).expires).to.equal(expires);
  });

  const wrong: [string, unknown, string | null][] = [
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: '   ' }, 'name'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['a name with a NUL', { name: 'a\0b' }, 'name'],
    ['a name that turns its direction', { name: 'a\u202Eb' }, 'name'],
    ['a name with a blank of no width', { name: 'a\u200Bb' }, 'name'],
    ['a number as name', { name: 7 }, 'name'],
    ['a field of no meaning', { name: 'a', expire_in_s: 5 }, 'expire_in_s'],
    ['an end in the past', { name: 'a', expires: '2020-01-01T00:00:00Z' }, 'expires'],
    ['the 30th of February', { name: 'a', expires: '2099-02-30T00:00:00Z' }, 'expires'],
    ['an end without a zone', { name: 'a', expires: '2099-02-03T00:00:00' }, 'expires'],
    ['no time at all', { name: 'a', expires_in_s: 0 }, 'expires_in_s'],
    ['half a second', { name: 'a', expires_in_s: 0.5 }, 'expires_in_s'],
    ['two ends', { name: 'a', expires_in_s: 5, expires: '2099-01-01T00:00:00Z' }, 'expires'],
    ['no model', { name: 'a', models: [] }, 'models'],
    ['101 models', { name: 'a', models: Array.from({ length: 101 }, () => 'acme-chat') }, 'models'],
    ['a number as limit', { name: 'a', limit: 5 }, 'limit'],
    ['a limit of nothing', { name: 'a', limit: '0' }, 'limit'],
    ['a limit below zero', { name: 'a', limit: '-1' }, 'limit'],
    ['a limit finer than a nano-dollar', { name: 'a', limit: '0.0000000001' }, 'limit'],
    ['a limit that no balance has', { name: 'a', limit: '1000000000' }, 'limit'],
    ['a window of no length', { name: 'a', allowances: { fortnight: '5' } }, 'allowances'],
    [
      'two windows of one length',
      { name: 'a', allowances: { day: '5', '24h': '1' } },
      'allowances',
    ],
    ['an allowance of nothing', { name: 'a', allowances: { day: '0' } }, 'allowances'],
    ['a number as allowance', { name: 'a', allowances: { day: 5 } }, 'allowances.day'],
    ['no allowance', { name: 'a', allowances: { day: null } }, 'allowances.day'],
    [
      'an allowance above the limit',
      { name: 'a', allowances: { day: '5' }, limit: '4' },
      'allowances',
    ],
    ['a blank name with a limit', { name: ' ', limit: '4' }, 'name'],
    ['a rate of 0', { name: 'a', rates: { requests_per_minute: 0 } }, 'rates.requests_per_minute'],
    [
      'half a request',
      { name: 'a', rates: { concurrent_requests: 0.5 } },
      'rates.concurrent_requests',
    ],
    ['an unknown rate', { name: 'a', rates: { requests: 5 } }, 'rates.requests'],
    ['a list', ['a'], null],
    ['null', null, null],
    ['text that is no JSON', '{"name"', null],
  ];
  for (const [what, body, param] of wrong) {
    it(`refuses ${what}`, async () => {
      const reply = await ann.send('POST', '/api/keys', body);
      expect(reply.refusal()).to.deep.equal([400, 'invalid_request', param]);
      expect(await list()).to.deep.equal([]);
    });
  }

  it('refuses a model that is not there, and says which', async () => {
    const reply = await ann.send('POST', '/api/keys', { name: 'a', models: ['acme-chat', 'b'] });
    expect(reply.refusal()).to.deep.equal([400, 'model_not_found', 'models[1]']);
  });

  it('takes a name of 100 characters, however many bytes they are', async () => {
    expect((await create({ name: '🌍'.repeat(100) })).name).to.equal('🌍'.repeat(100));
  });

  it('refuses another content type and a body that is too large', async () => {
    const plain = { origin: 'https://ai.example.org', 'content-type': 'text/plain' };
    expect((await ann.send('POST', '/api/keys', { name: 'a' }, plain)).status).to.equal(400);
    const large = { name: 'a', models: ['x'.repeat(70_000)] };
    expect((await ann.send('POST', '/api/keys', large)).refusal()[1]).to.equal('body_too_large');
  });

  it('gives an account no more active keys than limits.keys', async () => {
    const all = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((name) => ann.send('POST', '/api/keys', { name })),
    );
    const statuses = all.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).to.deep.equal([201, 201, 201, 400, 400]);
    const [key] = await list();
    expect((await ann.send('DELETE', `/api/keys/${key?.id}`)).status).to.equal(204);
    await create({ name: 'in its place' });
    const other = await here.house.signIn('bob');
    expect((await other.send('POST', '/api/keys', { name: 'own' })).status).to.equal(201);
  });

  it('lists the own keys alone, newest first, revoked ones too', async () => {
    const first = await create({ name: 'first' });
    ground.now_ms += 1;
    const second = await create({ name: 'second' });
    await ann.send('DELETE', `/api/keys/${first.id}`);
    const keys = await list();
    expect(keys.map(({ id }) => id)).to.deep.equal([second.id, first.id]);
    expect(keys.map(({ revoked }) => revoked)).to.deep.equal([
      null,
      new Date(ground.now_ms).toISOString(),
    ]);
    expect(await list(await here.house.signIn('bob'))).to.deep.equal([]);
  });

  it('revokes a key before it answers, once', async () => {
    const { id, secret } = await create({ name: 'laptop' });
    const reply = await ann.send('DELETE', `/api/keys/${id}`);
    expect([reply.status, reply.text]).to.deep.equal([204, '']);
    expect((await chat({ url: here.house.url, secret }, HELLO)).status).to.equal(401);
    const again = await ann.send('DELETE', `/api/keys/${id}`);
    expect(again.refusal()).to.deep.equal([404, 'not_found', null]);
  });

  it("says of another account's key what it says of an unknown one", async () => {
    const { id, secret } = await create({ name: 'laptop' });
    const bob = await here.house.signIn('bob');
    const others = await bob.send('DELETE', `/api/keys/${id}`);
    const unknown = await bob.send('DELETE', '/api/keys/key_0000000000000000');
    expect(others.text).to.equal(unknown.text);
    expect(others.refusal()).to.deep.equal([404, 'not_found', null]);
    expect((await chat({ url: here.house.url, secret }, HELLO)).status).to.equal(200);
  });

  it('knows no key of an ID that no key can have', async () => {
    for (const id of ['%00', 'a%00b', '%2e%2e', 'x'.repeat(5_000), "'%20or%201=1"]) {
      const reply = await ann.send('DELETE', `/api/keys/${id}`);
      expect(reply.refusal(), id).to.deep.equal([404, 'not_found', null]);
    }
  });
});
