import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { errorOf } from '../helpers/ask.js';

describe('the stage auth', () => {
  let acme: OpenaiGateway;
  let ahead_ms = 0;

  const models = async (authorization?: string): Promise<Response> =>
    fetch(`${acme.url}/v1/models`, {
      headers: authorization === undefined ? {} : { authorization },
    });

  before(async () => {
    acme = await startOpenaiGateway({}, { now: () => Date.now() + ahead_ms });
  });
  after(() => acme.close());

  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer   ', 'Key ', 'key ']) {
    it(`takes a key after "${scheme}"`, async () => {
      expect((await models(`${scheme}${acme.secret}`)).status).to.equal(200);
    });
  }

  const refused: [string, (secret: string) => string | undefined][] = [
    ['no header', () => undefined],
    ['an empty header', () => ''],
    ['a scheme alone', () => 'Bearer'],
    ['a scheme and nothing', () => 'Bearer   '],
    ['another scheme', (secret) => `Basic ${secret}`],
    ['no scheme', (secret) => secret],
    ['two keys', (secret) => `Bearer ${secret} ${secret}`],
    ['a key with a letter more', (secret) => `Bearer ${secret}a`],
    ['a key with a letter less', (secret) => `Bearer ${secret.slice(0, -1)}`],
    ['a key in other letters', (secret) => `Bearer ${secret.toUpperCase()}`],
    ['a key in quotes', (secret) => `Bearer "${secret}"`],
    ['a key that was never made', () => `Bearer tg-${'a'.repeat(42)}`],
    ['SQL', () => `Bearer ' OR 1=1 --`],
    ['a huge key', () => `Bearer ${'x'.repeat(10_000)}`],
  ];
  for (const [what, header] of refused) {
    it(`refuses ${what}`, async () => {
      const response = await models(header(acme.secret));
      expect(response.status).to.equal(401);
      expect(response.headers.get('www-authenticate')).to.equal('Bearer');
      const { status, headers } = response;
      const error = errorOf({ status, headers, text: await response.text() });
      expect(error).to.include({ code: 'invalid_api_key', type: 'authentication_error' });
      expect(error.message).not.to.include(acme.secret);
    });
  }

  it('refuses a key in the query string', async () => {
    const response = await fetch(`${acme.url}/v1/models?api_key=${acme.secret}`);
    expect(response.status).to.equal(401);
  });

  it('refuses a revoked key at once', async () => {
    const { store } = acme.gateway;
    const { key, secret } = await store.createKey(acme.account.id, 'brief');
    expect((await models(`Bearer ${secret}`)).status).to.equal(200);
    expect(await store.revokeKey(key.id)).to.equal(true);
    expect((await models(`Bearer ${secret}`)).status).to.equal(401);
    expect((await models(`Bearer ${acme.secret}`)).status).to.equal(200);
  });

  it('refuses an expired key as it does an unknown one', async () => {
    const { store } = acme.gateway;
    const expires_ms = Date.now() + 60_000;
    const { secret } = await store.createKey(acme.account.id, 'brief', { expires_ms });
    expect((await models(`Bearer ${secret}`)).status).to.equal(200);
    ahead_ms = 60_000;
    const [expired, unknown] = [await models(`Bearer ${secret}`), await models('Bearer tg-no')];
    expect(expired.status).to.equal(401);
    expect(await expired.text()).to.equal(await unknown.text());
    ahead_ms = 0;
  });

  it('answers 401 first, also at an endpoint that reads no body', async () => {
    const response = await fetch(`${acme.url}/v1/chat/completions`, { method: 'POST', body: '{' });
    expect(response.status).to.equal(401);
  });

  it('stops listening to wrong keys from an address that has sent too many', async () => {
    let now_ms = Date.now();
    const limited = await startOpenaiGateway(
      { yaml: 'limits: { failed_keys: 3 }' },
      { now: () => now_ms },
    );
    const call = (secret: string): Promise<Response> =>
      fetch(`${limited.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    const statuses = async (secret: string, times: number): Promise<number[]> => {
      const answers: number[] = [];
      while (answers.length < times) answers.push((await call(secret)).status);
      return answers;
    };
    expect(await statuses(limited.secret, 5)).to.deep.equal([200, 200, 200, 200, 200]);
    expect(await statuses('tg-wrong', 5)).to.deep.equal([401, 401, 401, 429, 429]);
    const refused = await call('tg-wrong');
    const { status, headers } = refused;
    expect(errorOf({ status, headers, text: await refused.text() })).to.include({
      code: 'rate_limited',
      type: 'rate_limit_error',
    });
    expect(headers.get('retry-after')).to.equal('20');
    expect(await statuses(limited.secret, 3)).to.deep.equal([200, 200, 200]);
    const { store } = limited.gateway;
    const { key, secret } = await store.createKey(limited.account.id, 'brief');
    await store.revokeKey(key.id);
    expect(await statuses(secret, 4)).to.deep.equal([401, 401, 401, 401]);
    now_ms += 20_000;
    expect(await statuses('tg-wrong', 2)).to.deep.equal([401, 429]);
    await limited.close();
  });
});
