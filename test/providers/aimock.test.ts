import { LLMock } from '@copilotkit/aimock';
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';

interface Completion {
  choices: {
    message: {
      content: string | null;
      reasoning_content?: string;
      tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    };
    finish_reason: string;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
}

interface Chunk {
  choices: { delta: { content?: string; tool_calls?: { function: { arguments?: string } }[] } }[];
  usage?: { prompt_tokens: number; completion_tokens: number };
}

/** How a provider's entry and model are written so that they reach the mock at `url`. */
const PROVIDERS: Record<string, { entry: (url: string) => string; model: string }> = {
  openai: { entry: (url) => `uses: openai, base_url: '${url}/v1'`, model: 'gpt-4o' },
  'azure-deployments': {
    entry: (url) => `uses: azure-deployments, base_url: '${url}/openai'`,
    model: 'gpt-4o',
  },
  anthropic: {
    entry: (url) => `uses: anthropic, base_url: '${url}/v1'`,
    model: 'claude-sonnet-4-5',
  },
  gemini: {
    entry: (url) => `uses: gemini, base_url: '${url}/v1beta'`,
    model: 'gemini-2.5-flash',
  },
  bedrock: {
    entry: (url) => `uses: bedrock, region: us-east-1, base_url: '${url}'`,
    model: 'amazon.nova-lite-v1:0',
  },
  vertex: {
    entry: (url) => `uses: vertex, base_url: '${url}/v1/projects/p/locations/us-central1'`,
    model: 'gemini-2.5-flash',
  },
  openrouter: {
    entry: (url) => `uses: openrouter, base_url: '${url}/api/v1'`,
    model: 'openai/gpt-4o',
  },
};

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
const WEATHER = { role: 'user', content: 'The weather in Oslo, please.' };

for (const [name, { entry, model }] of Object.entries(PROVIDERS)) {
  describe(`aimock as the upstream of ${name}`, () => {
    const mock = new LLMock({ port: 0 });
    let gateway: TestGateway;

    before(async () => {
      mock
        .onMessage('hello', { content: 'Hi there, traveller!', usage: USAGE })
        .onMessage('ponder', { content: 'Four.', reasoning: 'Two and two.', usage: USAGE })
        .onToolResult('call_oslo', { content: 'It rains.', usage: USAGE })
        .onMessage('weather', {
          toolCalls: [{ id: 'call_oslo', name: 'weather', arguments: '{"city":"Oslo"}' }],
          usage: USAGE,
        });
      await mock.start();
      gateway = await startGateway(`owners: { acme: { name: Acme } }
providers: { up: { ${entry(mock.url)}, api_key: sk-mock-0123456789 } }
models:
  m:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: up, model: ${model} }]
    passthrough: [reasoning_content]
    price: { input_per_million: 1, output_per_million: 10 }
`);
    });
    after(async () => {
      await gateway.close();
      await mock.stop();
    });

    const post = (body: object): Promise<Response> =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.secret}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model: 'm', max_tokens: 50, ...body }),
      });
    const ask = async (...messages: object[]): Promise<Completion> => {
      const answer = await post({ messages, tools: TOOLS });
      expect(answer.status, await answer.clone().text()).to.equal(200);
      return (await answer.json()) as Completion;
    };
    const stream = async (content: string): Promise<Chunk[]> => {
      const messages = [{ role: 'user', content }];
      const text = await (await post({ messages, tools: TOOLS, stream: true })).text();
      const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
      expect(events.at(-1)).to.equal('data: [DONE]');
      return events.slice(0, -1).map((event) => JSON.parse(event.slice(6)) as Chunk);
    };

    it('answers, and its usage is what the client sees', async () => {
      const { choices, usage } = await ask({ role: 'user', content: 'hello' });
      expect(choices[0]?.message.content).to.equal('Hi there, traveller!');
      expect(choices[0]?.finish_reason).to.equal('stop');
      expect(usage).to.include({ prompt_tokens: 11, completion_tokens: 7 });
    });

    it('answers in a stream, with usage at its end', async () => {
      const chunks = await stream('hello');
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
      expect(text).to.equal('Hi there, traveller!');
      expect(chunks.at(-1)?.usage).to.include({ prompt_tokens: 11, completion_tokens: 7 });
    });

    it('calls a tool, and goes on with its result', async () => {
      const [asked] = (await ask(WEATHER)).choices;
      const [call] = asked?.message.tool_calls ?? [];
      expect(asked?.finish_reason).to.equal('tool_calls');
      expect(call?.function).to.deep.equal({ name: 'weather', arguments: '{"city":"Oslo"}' });
      const result = { role: 'tool', tool_call_id: call?.id, content: 'rain' };
      const [told] = (await ask(WEATHER, { role: 'assistant', ...asked?.message }, result)).choices;
      expect(told?.message.content).to.equal('It rains.');
    });

    it('calls a tool in a stream, with whole arguments', async () => {
      const fragments = (await stream('weather')).flatMap(
        ({ choices }) => choices[0]?.delta.tool_calls ?? [],
      );
      const text = fragments.map((fragment) => fragment.function.arguments ?? '').join('');
      expect(text).to.equal('{"city":"Oslo"}');
    });

    it('shows its reasoning where the model may', async () => {
      const [choice] = (await ask({ role: 'user', content: 'ponder' })).choices;
      expect(choice?.message).to.include({ content: 'Four.', reasoning_content: 'Two and two.' });
    });

    it('fails as an upstream where it is out of quota', async () => {
      mock.nextRequestError(429, {
        message: 'Out of quota.',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      });
      const answer = await post({ messages: [{ role: 'user', content: 'hello' }] });
      expect(answer.status).to.equal(502);
    });
  });
}
