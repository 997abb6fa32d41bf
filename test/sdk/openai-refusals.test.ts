import { expect } from 'chai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { chatJson, play, sse, startUpstream, type FakeUpstream } from '../helpers/upstream.js';

const REFUSAL = 'I will not.';
const USAGE = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };
const City = z.object({ city: z.string() });
const HELLO = {
  model: 'acme-chat',
  messages: [{ role: 'user' as const, content: 'Hello!' }],
  response_format: zodResponseFormat(City, 'city'),
};
const QUESTION = {
  model: 'acme-chat',
  input: 'Hello!',
  text: { format: zodTextFormat(City, 'city') },
};

const message = { role: 'assistant', content: null, refusal: REFUSAL };
const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const STREAM = sse([
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ refusal: 'I will ' }),
  chunk({ refusal: 'not.' }),
  chunk({}, 'stop'),
  { choices: [], usage: USAGE },
  'data: [DONE]\n\n',
]);

describe('the openai package, when the model refuses', () => {
  let acme: TestGateway;
  let upstream: FakeUpstream;
  let client: OpenAI;
  before(async () => {
    const whole = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE };
    upstream = await startUpstream(({ json }, response) =>
      play((json as { stream?: boolean }).stream ? STREAM : chatJson('', whole), response),
    );
    acme = await startGateway(
      `owners: { acme: { name: Acme } }
providers: { acme: { uses: openai, base_url: '${upstream.url}', api_key: sk-acme } }
models:
  acme-chat: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], price: { input_per_million: 1, output_per_million: 2 }, passthrough: [response_format] }`,
    );
    client = connect('/openai/v1');
  });
  after(async () => {
    await acme.close();
    await upstream.close();
  });

  const connect = (path: string): OpenAI =>
    new OpenAI({ baseURL: acme.url + path, apiKey: acme.secret, maxRetries: 0 });

  it('parses a refusal, which is not the content', async () => {
    const { choices } = await client.chat.completions.parse(HELLO);
    expect(choices[0]?.message).to.deep.include({ content: null, refusal: REFUSAL, parsed: null });
  });

  it('streams a refusal, which is not the content', async () => {
    const { choices } = await client.chat.completions.stream(HELLO).finalChatCompletion();
    expect(choices[0]?.message).to.deep.include({ content: null, refusal: REFUSAL });
  });

  it('parses a response with a part that is a refusal', async () => {
    const { output } = await client.responses.parse(QUESTION);
    expect(output).to.have.length(1);
    expect(output[0]).to.deep.include({ content: [{ type: 'refusal', refusal: REFUSAL }] });
  });

  it('streams a response with the events of a refusal', async () => {
    const stream = client.responses.stream(QUESTION);
    const types: string[] = [];
    for await (const { type } of stream) types.push(type.replace('response.', ''));
    expect(types).to.deep.equal([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'refusal.delta',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    const { output } = await stream.finalResponse();
    expect(output[0]).to.deep.include({ content: [{ type: 'refusal', refusal: REFUSAL }] });
  });

  for (const stream of [false, true]) {
    const how = stream ? 'a stream' : 'an answer';
    it(`gets the refusal as the content of ${how} of the specification's endpoint`, async () => {
      const chat = connect('/v1').chat.completions;
      const { messages, model } = HELLO;
      let text = '';
      if (stream) {
        for await (const { choices } of await chat.create({ model, messages, stream })) {
          text += choices[0]?.delta.content ?? '';
        }
      } else text = (await chat.create({ model, messages })).choices[0]?.message.content ?? '';
      expect(text).to.equal(REFUSAL);
    });
  }

  it('pays for the words of a refusal, though the upstream counts no output', async () => {
    const { usage } = await client.chat.completions.create(HELLO);
    expect(usage?.completion_tokens).to.be.greaterThan(0);
    const stream = client.chat.completions.stream({
      ...HELLO,
      stream_options: { include_usage: true },
    });
    expect((await stream.finalChatCompletion()).usage?.completion_tokens).to.be.greaterThan(0);
  });
});
