import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.js';
import { startGateway } from '../helpers/gateway.js';
import { chatJson, startUpstream } from '../helpers/upstream.js';

const YAML = (url: string): string => `owners: { acme: { name: Acme } }
providers: { up: { uses: openai, base_url: '${url}', api_key: sk-up } }
models:
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: up }], price: { input_per_million: 1, output_per_million: 1 } }
`;

describe('a gateway that is told to stop', () => {
  it('takes calls for drain_delay while /readyz is 503, then no connection', async () => {
    const upstream = await startUpstream(chatJson('Hello'));
    const house = await startGateway(`${YAML(upstream.url)}drain_delay: 500ms`);
    const headers = { authorization: `Bearer ${house.secret}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'talk', messages: [{ role: 'user', content: 'Hi' }] });
    const stopping = house.gateway.stop();
    expect((await fetch(`${house.url}/readyz`)).status).to.equal(503);
    const answer = await fetch(`${house.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
    });
    expect(answer.status).to.equal(200);
    await answer.text();
    expect(await stopping).to.equal(true);
    const refused = await fetch(`${house.url}/readyz`).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
    await upstream.close();
  });

  it('ends within one limit while its store is locked, not one for each part', async () => {
    const upstream = await startUpstream(chatJson('Hello'));
    const house = await startGateway(YAML(upstream.url), { close_ms: 50, store_wait_ms: 10 });
    const other = openSqliteFile(join(house.folder, 'tollgate.db'));
    other.exec('begin immediate');
    expect(await house.gateway.stop()).to.equal(false);
    other.exec('rollback');
    other.close();
    await upstream.close();
  });
});
