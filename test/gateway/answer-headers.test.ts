import { expect } from 'chai';
import { ask, chat } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { chatJson, chatSse, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';

const MESSAGES = [{ role: 'user', content: 'Hi' }];

describe('the headers of an answer', () => {
  let broken: FakeUpstream;
  let well: FakeUpstream;
  let gateway: TestGateway | undefined;
  beforeEach(async () => {
    broken = await startUpstream({ status: 500, body: '{}' });
    well = await startUpstream(({ json }, response) => {
      const { stream } = json as { stream?: boolean };
      return play(stream ? chatSse(['one', ' two']) : chatJson('one two'), response);
    });
  });
  afterEach(async () => {
    await gateway?.close();
    await broken.close();
    await well.close();
  });

  const start = async (headers: string): Promise<TestGateway> => {
    const price = '{ input_per_million: 1, output_per_million: 1 }';
    const model = (...names: string[]): string =>
      `{ owner: a, capabilities: [chat], price: ${price}, upstreams: [${names.map((name) => `{ provider: ${name} }`).join(', ')}] }`;
    gateway = await startGateway(`owners: { a: { name: A } }
${headers}
providers:
  broken: { uses: openai, base_url: '${broken.url}', api_key: k }
  well: { uses: openai, base_url: '${well.url}', api_key: k }
models: { both: ${model('broken', 'well')}, neither: ${model('broken')} }
`);
    return gateway;
  };

  const told = ({ headers }: { headers: Headers }): Record<string, string> =>
    Object.fromEntries(
      [...headers].filter(([name]) => /^tollgate-(?:upstream|cost|attempts)$/u.test(name)),
    );

  it('tell its cost alone where the file says nothing', async () => {
    const at = await start('');
    const answer = await chat(at, { model: 'both', messages: MESSAGES });
    const [entry] = (await at.gateway.store.ledger(at.account.id, { limit: 9 })).slice(-1);
    expect(entry?.amount_nano).to.equal(-14_000n);
    expect(told(answer)).to.deep.equal({ 'tollgate-cost': '0.000014' });
    expect(told(await ask(at, '/v1/models'))).to.deep.equal({});
  });

  it('tell the upstream and the attempts too where they are to', async () => {
    const at = await start('headers: { upstream: true, cost: true, attempts: true }');
    expect(told(await chat(at, { model: 'both', messages: MESSAGES }))).to.deep.equal({
      'tollgate-upstream': 'well',
      'tollgate-cost': '0.000014',
      'tollgate-attempts': '2',
    });
  });

  it('tell no cost of a stream, which begins before its cost is known', async () => {
    const at = await start('headers: { upstream: true, cost: true, attempts: true }');
    const answer = await chat(at, { model: 'both', messages: MESSAGES, stream: true });
    expect(told(answer)).to.deep.equal({ 'tollgate-upstream': 'well', 'tollgate-attempts': '2' });
  });

  it('count the attempts of a request that none has answered', async () => {
    const at = await start('headers: { upstream: true, attempts: true }');
    const answer = await chat(at, { model: 'neither', messages: MESSAGES });
    expect(answer.status).to.equal(502);
    expect(told(answer)).to.deep.equal({ 'tollgate-attempts': '1' });
  });

  it('tell nothing where all of them are off', async () => {
    const at = await start('headers: { cost: false }');
    for (const stream of [false, true]) {
      expect(told(await chat(at, { model: 'both', messages: MESSAGES, stream }))).to.deep.equal({});
    }
  });
});
