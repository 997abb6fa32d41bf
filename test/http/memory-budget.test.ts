import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { chat, completionOf, errorOf } from '../helpers/ask.js';
import { rawClient, rawPost, type RawClient } from '../helpers/raw-client.js';
import { startGateway } from '../helpers/gateway.js';
import { chatJson, startUpstream } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';

const PAID = { models: ['acme-chat', 'acme-broken'] };
const KB = 1024;

/** A sound request of about so many bytes. */
const weighing = (bytes: number, model = 'acme-chat'): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'x'.repeat(bytes) }] });

/** One that is announced, and of which only the beginning comes. */
const begun = (at: Pick<OpenaiGateway, 'url' | 'secret'>, length: number, sent = 100): RawClient =>
  rawClient(at.url, rawPost(weighing(sent), { secret: at.secret, length }));

describe('the memory for bodies and answers', () => {
  let acme: OpenaiGateway;
  const open: RawClient[] = [];

  const start = async (limits: string, credit = '10'): Promise<void> => {
    acme = await startOpenaiGateway({ yaml: `limits: { ${limits} }` }, { credit, terms: PAID });
  };
  const another = async (name: string): Promise<Pick<OpenaiGateway, 'url' | 'secret'>> => {
    const { store } = acme.gateway;
    const { id } = await store.createAccount(name, 10_000_000_000n);
    return { url: acme.url, secret: (await store.createKey(id, 'k', PAID)).secret };
  };
  const opened = (client: RawClient): RawClient => {
    open.push(client);
    return client;
  };
  const answerOn = async (client: RawClient): Promise<string> => {
    await client.until((text) => text.includes('\r\n\r\n') && text.endsWith('}'));
    return client.text;
  };

  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.destroy();
    await until(() => acme.gateway.in_flight_bytes === 0, 'all is given back');
    await acme.close();
  });

  it('refuses ten large bodies of {} unparsed, from an account with one cent', async () => {
    await start('', '0.01');
    const values = '{},'.repeat(700_000);
    const body = `{"model":"acme-chat","messages":[${values}{}]}`;
    const answers = await Promise.all(Array.from({ length: 10 }, () => chat(acme, body)));
    for (const answer of answers) {
      expect([400, 503]).to.include(answer.status);
      if (answer.status === 400) expect(errorOf(answer).message).to.include('100000 JSON values');
    }
    expect(answers.map(({ status }) => status)).to.include(400);
  });

  it('refuses a large body that is nested too deep', async () => {
    await start('');
    const answer = await chat(acme, `{"messages":${'['.repeat(70_000)}`);
    expect(answer.status).to.equal(400);
    expect(errorOf(answer).message).to.equal('The body is nested too deep.');
  });

  it('counts no punctuation within strings', async () => {
    await start('body_values: 100');
    const content = '\\",:{[\\\\'.repeat(20_000);
    const messages = [{ role: 'user', content }];
    completionOf(await chat(acme, { model: 'acme-chat', messages, max_tokens: 1 }));
    expect(acme.sent().messages).to.deep.equal(messages);
  });

  it('refuses 40 large bodies of an account without money before they come', async () => {
    await start('', '0');
    const clients = Array.from({ length: 40 }, () => opened(begun(acme, 18_000 * KB)));
    for (const client of clients) expect(await answerOn(client)).to.match(/^HTTP\/1\.1 402 /u);
    await until(() => acme.gateway.in_flight_bytes === 0, 'all is given back');
  });

  it('refuses a body of an account without money once it has become large', async () => {
    await start('', '0');
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${acme.secret}\r\n`;
    const type = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    const chunk = `${(80 * KB).toString(16)}\r\n${'x'.repeat(80 * KB)}\r\n`;
    const client = opened(rawClient(acme.url, head + type + chunk));
    expect(await answerOn(client)).to.match(/^HTTP\/1\.1 402 /u);
  });

  it('limits one account to a share, so that another is served', async () => {
    await start('in_flight_bytes: 6mb');
    const bob = await another('bob');
    const first = opened(begun(acme, 900 * KB));
    await until(() => acme.gateway.in_flight_bytes > 0, 'it is counted');
    const refused = await chat(acme, weighing(500 * KB));
    expect(refused.status).to.equal(503);
    expect(errorOf(refused)).to.include({ code: 'overloaded', type: 'unavailable_error' });
    expect(refused.headers.get('retry-after')).to.equal('1');
    completionOf(await chat(bob, weighing(500 * KB)));
    first.socket.destroy();
    await until(() => acme.gateway.in_flight_bytes === 0, 'all is given back');
    completionOf(await chat(acme, weighing(500 * KB)));
  });

  it('refuses everybody with 503 and Retry-After while all of it is in use', async () => {
    await start('in_flight_bytes: 6mb');
    const [bob, eve] = [await another('bob'), await another('eve')];
    for (const one of [acme, bob]) opened(begun(one, 1_000 * KB));
    await until(() => acme.gateway.in_flight_bytes > 5_500 * KB, 'both are counted');
    const refused = await chat(eve, weighing(300 * KB));
    expect([refused.status, errorOf(refused).code]).to.deep.equal([503, 'overloaded']);
    expect(refused.headers.get('retry-after')).to.equal('1');
    completionOf(await chat(eve, weighing(1 * KB)));
  });

  it('refuses a body that no share of it could hold', async () => {
    await start('in_flight_bytes: 6mb');
    const answer = await chat(acme, weighing(1_100 * KB));
    expect([answer.status, errorOf(answer).code]).to.deep.equal([413, 'body_too_large']);
  });

  it('is given back where a large body does not come', async () => {
    await start('body_stall: 200ms');
    const answer = await opened(begun(acme, 18_000 * KB)).closed();
    expect(answer)
      .to.match(/^HTTP\/1\.1 408 /u)
      .and.include('request_timeout');
  });

  it('takes a large body that comes in time, in two parts', async () => {
    await start('body_stall: 30s');
    const body = weighing(300 * KB);
    const client = opened(rawClient(acme.url, rawPost(body, acme).slice(0, -9)));
    await until(() => acme.gateway.in_flight_bytes > 0, 'it is counted');
    client.socket.write(body.slice(-9));
    expect(await answerOn(client)).to.match(/^HTTP\/1\.1 200 /u);
  });
});

describe('an upstream answer beyond the memory budget', () => {
  it('is 503 with Retry-After, and costs nothing', async () => {
    const upstream = await startUpstream(chatJson('x'.repeat(900 * KB)));
    const at = await startGateway(
      `providers: { up: { uses: openai, base_url: '${upstream.url}', api_key: sk } }
owners: { up: { name: Up } }
limits: { in_flight_bytes: 1mb }
models: { m: { owner: up, capabilities: [chat], upstreams: [{ provider: up }], price: { input_per_million: 1, output_per_million: 1 } } }
`,
    );
    try {
      const answer = await chat(at, { model: 'm', messages: [{ role: 'user', content: 'x' }] });
      expect([answer.status, errorOf(answer).code]).to.deep.equal([503, 'overloaded']);
      expect(answer.headers.get('retry-after')).to.equal('1');
      const { store } = at.gateway;
      expect(await store.account(at.account.id)).to.include({ held_nano: 0n });
      await until(() => at.gateway.in_flight_bytes === 0, 'all is given back');
      expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
    } finally {
      await at.close();
      await upstream.close();
    }
  });
});
