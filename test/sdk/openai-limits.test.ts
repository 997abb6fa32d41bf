import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import OpenAI from 'openai';
import { startClaude } from '../helpers/claude-server.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import type { Received, Step } from '../helpers/upstream.js';

const MESSAGES = [{ role: 'user' as const, content: 'Hi' }];
const MANY = ['a', 'b', 'c', 'd', 'e'];

interface Asked {
  stop?: unknown[];
  tools?: unknown[];
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
}

/** Refuses what OpenAI refuses. */
function answer({ json }: Received): Step {
  const { stop, tools, tool_choice, parallel_tool_calls } = json as Asked;
  const needsTools = tool_choice !== undefined || parallel_tool_calls !== undefined;
  const fault =
    tools?.length === 0
      ? "Invalid 'tools': empty array."
      : !tools && needsTools
        ? "'tool_choice' is only allowed when 'tools' are specified."
        : stop && (stop.length === 0 || stop.length > 4)
          ? "Invalid 'stop': array of a wrong length."
          : undefined;
  if (fault === undefined) return chatJson('Good day.');
  const error = { message: fault, type: 'invalid_request_error', param: null, code: null };
  const headers = { 'content-type': 'application/json' };
  return { status: 400, headers, body: JSON.stringify({ error }) };
}

describe('limits of OpenAI that other APIs do not have', () => {
  let openai: FakeUpstream;
  let claude: FakeUpstream;
  let gateway: TestGateway;
  let client: OpenAI;
  let anthropic: Anthropic;

  before(async () => {
    openai = await startUpstream((received, response) => play(answer(received), response));
    claude = await startClaude(() => [{ type: 'text', text: 'Good day.' }]);
    gateway = await startGateway(`owners: { me: { name: Me } }
providers:
  openai: { base_url: '${openai.url}', api_key: sk-openai }
  anthropic: { base_url: '${claude.url}', api_key: sk-ant }
models:
  gpt: { owner: me, capabilities: [chat, tools], upstreams: [{ provider: openai, model: gpt-4o }], price: &paid { input_per_million: 1, output_per_million: 2 } }
  either: { owner: me, capabilities: [chat, tools], upstreams: [{ provider: openai, model: gpt-4o }, { provider: anthropic, model: claude-haiku-4-5 }], price: *paid }
`);
    const { secret, url } = gateway;
    client = new OpenAI({ apiKey: secret, baseURL: `${url}/v1`, maxRetries: 0 });
    anthropic = new Anthropic({ authToken: secret, apiKey: null, baseURL: url, maxRetries: 0 });
  });
  after(async () => {
    await gateway.close();
    await Promise.all([openai.close(), claude.close()]);
  });

  const idle: [string, object][] = [
    ['no tools', { tools: [] }],
    ['no tools, and a choice among them', { tools: [], tool_choice: 'auto' }],
    ['a choice, and no tools', { tool_choice: 'none', parallel_tool_calls: true }],
    ['no stop sequences', { stop: [] }],
  ];
  for (const [title, fields] of idle) {
    it(`an empty list was 400: ${title}`, async () => {
      const { data, response } = await client.chat.completions
        .create({ model: 'gpt', messages: MESSAGES, ...fields })
        .withResponse();
      expect(data.choices[0]?.message.content).to.equal('Good day.');
      expect(response.headers.get('tollgate-ignored')).to.equal(null);
    });
  }

  it('refuses to demand a call of no tool, before anything is sent', async () => {
    const before = openai.requests.length;
    const refusal = await client.chat.completions
      .create({ model: 'gpt', messages: MESSAGES, tools: [], tool_choice: 'required' })
      .catch((error: unknown) => error);
    expect(refusal).to.include({ status: 400, param: 'tool_choice' });
    expect(openai.requests.length).to.equal(before);
  });

  it('five stop sequences were 400, although the next upstream takes them', async () => {
    const asked = { max_tokens: 9, messages: MESSAGES, stop_sequences: MANY };
    const answered = await anthropic.messages.create({ model: 'either', ...asked });
    expect(answered.content).to.deep.equal([{ type: 'text', text: 'Good day.' }]);
    expect(claude.requests.at(-1)?.json).to.deep.include({ stop_sequences: MANY });
    const refusal = await anthropic.messages
      .create({ model: 'gpt', ...asked })
      .catch((error: unknown) => error);
    expect(refusal).to.include({ status: 400 });
    expect(String(refusal)).to.include('stop_sequences must name at most 4 texts');
  });
});
