import { expect } from 'chai';
import { unsealed } from '../../../../src/modalities/chat/formats/sealed-reasoning.js';
import { ask } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import {
  chatJson,
  play,
  sse,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from '../../../helpers/upstream.js';

interface Output {
  output: Record<string, unknown>[];
}

const THOUGHT = { type: 'reasoning.text', text: 'Hm, well.', signature: 'signed', format: 'f' };

/** An upstream whose reasoning has a state, whole or in pieces. */
function deepStep({ json }: Received): Step {
  if ((json as { stream: boolean }).stream !== true) {
    const message = {
      role: 'assistant',
      content: 'Good day',
      reasoning: 'Hm, well.',
      reasoning_details: [{ ...THOUGHT, index: 0 }],
    };
    return chatJson('', { choices: [{ index: 0, message, finish_reason: 'stop' }] });
  }
  const { text: _, signature, ...rest } = THOUGHT;
  const piece = (text: string): object => ({
    reasoning: text,
    reasoning_details: [{ ...rest, text, index: 0 }],
  });
  const deltas = [
    piece('Hm'),
    piece(', well.'),
    { reasoning_details: [{ type: rest.type, signature, index: 0 }] },
    { content: 'Good day' },
  ];
  return sse([
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
    'data: [DONE]\n\n',
  ]);
}

describe('the reasoning of a response', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream((received, response) => play(deepStep(received), response));
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers: { acme: { uses: openrouter, base_url: '${upstream.url}', api_key: sk-acme-secret } }
models:
  deep: { owner: acme, capabilities: [chat, tools], price: free, upstreams: [{ provider: acme }], passthrough: [reasoning_content] }
  plain: { owner: acme, capabilities: [chat, tools], price: free, upstreams: [{ provider: acme }] }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const post = async (body: object): Promise<string> => {
    const answer = await ask(gateway, '/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'deep', ...body }),
    });
    expect(answer.status, answer.text).to.equal(200);
    return answer.text;
  };
  const sent = (): unknown =>
    (upstream.requests.at(-1)?.json as { messages: object[] } | undefined)?.messages;
  const streamedOutput = async (): Promise<Output['output']> => {
    const text = await post({ input: 'Hello!', stream: true });
    const [, data = ''] = /^event: response.completed\ndata: (.*)$/mu.exec(text) ?? [];
    return (JSON.parse(data) as { response: Output }).response.output;
  };

  it('has a summary, and the same state whole and streamed', async () => {
    const { output } = JSON.parse(await post({ input: 'Hello!' })) as Output;
    const summary = [{ type: 'summary_text', text: 'Hm, well.' }];
    expect(output[0]).to.deep.include({ type: 'reasoning', summary });
    const streamed = await streamedOutput();
    expect(streamed[0]).to.deep.include({ type: 'reasoning', summary });
    const state = [{ ...THOUGHT, index: 0 }];
    expect(
      [streamed, output].map(([item]) => unsealed(String(item?.encrypted_content))),
    ).to.deep.equal([state, state]);
  });

  it('goes back to its upstream as it came', async () => {
    const input = [{ role: 'user', content: 'Hello!' }, ...(await streamedOutput())];
    await post({ input });
    const messages = sent();
    expect(messages).to.deep.equal([
      { role: 'user', content: 'Hello!' },
      { role: 'assistant', content: 'Good day', reasoning_details: [{ ...THOUGHT, index: 0 }] },
    ]);
  });

  it('is shown to a client that asks for it, whatever the model passes on', async () => {
    const types = async (body: object): Promise<unknown[]> => {
      const text = await post({ model: 'plain', input: 'Hello!', ...body });
      return (JSON.parse(text) as Output).output.map(({ type }) => type);
    };
    expect(await types({})).to.deep.equal(['message']);
    expect(await types({ reasoning: { effort: 'low', summary: null } })).to.deep.equal(['message']);
    const include = ['reasoning.encrypted_content'];
    expect(await types({ include })).to.deep.equal(['reasoning', 'message']);
    const summary = { reasoning: { summary: 'auto' } };
    expect(await types(summary)).to.deep.equal(['reasoning', 'message']);
  });

  it('is no turn of its own where nothing followed it', async () => {
    const [reasoning] = await streamedOutput();
    await post({ input: [reasoning, { role: 'user', content: 'Hello!' }] });
    const messages = sent();
    expect(messages).to.deep.equal([{ role: 'user', content: 'Hello!' }]);
  });
});
