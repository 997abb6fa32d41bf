import { expect } from 'chai';
import pino from 'pino';
import { startDashboard, type TestDashboard } from '../helpers/dashboard.js';
import { chatJson, startUpstream, type FakeUpstream } from '../helpers/upstream.js';

const USAGE = { prompt_tokens: 8_512, completion_tokens: 10 };

/** 8,512 tokens of an image cost $0.0085 at a dollar a million; the account has $0.002. */
describe('an answer that costs more than its account has', () => {
  const lines: string[] = [];
  let upstream: FakeUpstream;
  let dashboard: TestDashboard;

  before(async () => {
    upstream = await startUpstream(chatJson('A fox.', { usage: USAGE }));
    const log = pino({ level: 'info', base: null }, { write: (line) => void lines.push(line) });
    dashboard = await startDashboard(
      { credit: '0.002', log },
      `owners: { acme: { name: OpenaiGateway } }
providers:
  up: { uses: openai, base_url: "${upstream.url}", api_key: sk-test }
models:
  m:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: up }]
    limits: { max_tokens: 100 }
    price: { input_per_million: 1, output_per_million: 1 }
`,
    );
  });
  after(async () => {
    await dashboard.close();
    await upstream.close();
  });

  const look = async (path: string, operator = false): Promise<string> => {
    const session = await dashboard.signIn(dashboard.account.id, operator);
    const headers = { cookie: `session=${session}` };
    return (await fetch(dashboard.url + path, { headers })).text();
  };

  it('is reported in the log, in the ledger and on the pages, with the setting to raise', async () => {
    const answer = await fetch(`${dashboard.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${dashboard.secret}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'What is it?' }] }),
    });
    expect(answer.status).to.equal(200);
    const request_id = answer.headers.get('x-request-id');
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.filter(({ level }) => level === pino.levels.values.warn)).to.deep.equal([
      {
        level: pino.levels.values.warn,
        time: told.find(({ uncollected }) => uncollected !== undefined)?.time,
        request_id,
        model: 'm',
        uncollected: '0.006522',
        msg: 'an answer cost more than could be collected',
      },
    ]);
    expect(told.find(({ msg }) => msg === 'POST /v1/chat/completions')).to.include({
      cost: '0.002',
      uncollected: '0.006522',
    });
    const { data } = JSON.parse(await look('/api/ledger')) as { data: Record<string, unknown>[] };
    expect(data[0]).to.include({
      amount: '-0.002',
      uncollected: '0.006522',
      reference: request_id,
      estimated: false,
    });
    for (const [path, operator] of [
      ['/', false],
      [`/operator/accounts/${dashboard.account.id}?tab=ledger`, true],
    ] as const) {
      const page = await look(path, operator);
      expect(page, path).to.include('$0.006522').and.include('uncollected');
      expect(page, path).to.match(/raise .*max_tokens.*image_tokens.*hidden_tokens/u);
    }
    expect((await dashboard.gateway.store.verify()).faults).to.deep.equal([]);
  });
});
