import { expect } from 'chai';
import OpenAI from 'openai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startResponsesServer } from '../helpers/responses-server.js';
import type { FakeUpstream } from '../helpers/upstream.js';

const COMPACTION = { type: 'compaction', id: 'cmp_1', encrypted_content: 'c2VjcmV0' };
const SAID = {
  type: 'message',
  id: 'msg_2',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Go on.' }],
};

describe('the openai package, compacting a conversation', () => {
  let upstream: FakeUpstream;
  let acme: TestGateway;

  before(async () => {
    upstream = await startResponsesServer([{ output: [COMPACTION] }, { output: [SAID] }]);
    acme = await startGateway(
      `owners: { acme: { name: Acme } }
providers: { main: { uses: openai, base_url: '${upstream.url}', api_key: sk } }
models:
  smart: { owner: acme, capabilities: [chat], upstreams: [{ provider: main, model: gpt-5.2 }], price: { input_per_million: 1, output_per_million: 2 } }
`,
      { credit: '1' },
    );
  });
  after(async () => {
    await acme.close();
    await upstream.close();
  });

  it('reads what stands for it, and goes on with that', async () => {
    const client = new OpenAI({ baseURL: `${acme.url}/v1`, apiKey: acme.secret, maxRetries: 0 });
    const { object, output, usage } = await client.responses.compact({
      model: 'smart',
      input: 'Hello!',
    });
    expect([object, usage.total_tokens]).to.deep.equal(['response.compaction', 70]);
    const { output_text } = await client.responses.create({
      model: 'smart',
      // Its types tell the items of an answer from those of an input.
      input: [
        ...(output as OpenAI.Responses.ResponseInputItem[]),
        { role: 'user', content: 'Hm?' },
      ],
      store: false,
    });
    expect(output_text).to.equal('Go on.');
    const sent = upstream.requests[1]?.json as { input: object[] } | undefined;
    expect(sent?.input[0]).to.deep.equal(COMPACTION);
  });
});
