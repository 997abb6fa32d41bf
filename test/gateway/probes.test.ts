import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';

describe('the health probes', () => {
  let acme: OpenaiGateway;

  const probe = async (path: string): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`${acme.url}${path}`);
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    return { status: response.status, body: await response.json() };
  };

  beforeEach(async () => {
    acme = await startOpenaiGateway();
  });
  afterEach(() => acme.close());

  it('answer without a key', async () => {
    expect(await probe('/healthz')).to.deep.equal({ status: 200, body: { status: 'ok' } });
    expect(await probe('/readyz')).to.deep.equal({ status: 200, body: { status: 'ready' } });
  });

  it('answer HEAD', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status } = await fetch(`${acme.url}${path}`, { method: 'HEAD' });
      expect(status).to.equal(200);
    }
  });

  it('stay ready while an older configuration serves, and say why', async () => {
    acme.gateway.refuseReload('line 7: "gpt" is not a model');
    const { status, body } = await probe('/readyz');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      status: 'ready',
      configuration: 'older one serves: line 7: "gpt" is not a model',
    });
  });

  it('are not ready when the store does not answer, but alive', async () => {
    const ping = (): Promise<void> =>
      Promise.reject(new Error('postgres://user:secret@db is gone'));
    Object.assign(acme.gateway.store, { ping });
    expect(await probe('/readyz')).to.deep.equal({
      status: 503,
      body: { status: 'not_ready', reason: 'the store does not answer' },
    });
    expect((await probe('/healthz')).status).to.equal(200);
  });

  it('are answered within 2 s, though the store hangs', async () => {
    Object.assign(acme.gateway.store, { ping: () => new Promise(() => undefined) });
    const late = setTimeout(() => expect.fail('The probe was not answered in time.'), 10_000);
    expect(await probe('/readyz')).to.deep.equal({
      status: 503,
      body: { status: 'not_ready', reason: 'the store does not answer in time' },
    });
    clearTimeout(late);
  });
});
