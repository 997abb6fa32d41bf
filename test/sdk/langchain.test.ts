import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { expect } from 'chai';
import { APIError, AuthenticationError, BadRequestError, InternalServerError } from 'openai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';

async function gather(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let gathered = new AIMessageChunk('');
  for await (const chunk of stream) gathered = gathered.concat(chunk);
  return gathered;
}

describe('LangChain', () => {
  let acme: OpenaiGateway;

  const model = (name: string, fields: ChatOpenAIFields = {}): ChatOpenAI =>
    new ChatOpenAI({
      model: name,
      apiKey: acme.secret,
      maxRetries: 0,
      configuration: { baseURL: `${acme.url}/v1` },
      ...fields,
    });

  before(async () => {
    acme = await startOpenaiGateway();
  });
  after(() => acme.close());

  it('invokes a model and sees its usage', async () => {
    const messages = [new SystemMessage('Be brief.'), new HumanMessage('Hello!')];
    const answer = await model('acme-chat', { temperature: 0, maxTokens: 50 }).invoke(messages);
    expect(answer.content).to.equal('Good day, 🌍!');
    expect(answer.usage_metadata).to.include({
      input_tokens: 9,
      output_tokens: 5,
      total_tokens: 14,
    });
    expect(answer.response_metadata).to.include({ finish_reason: 'stop' });
    expect(acme.sent()).to.include({ temperature: 0, max_tokens: 50 });
  });

  it('streams a model, with usage at the end', async () => {
    const gathered = await gather(await model('acme-chat').stream('Hello!'));
    expect(gathered.content).to.equal('Good day, 🌍!');
    expect(gathered.usage_metadata).to.include({ total_tokens: 13 });
  });

  const weather = tool(() => 'Rain.', {
    name: 'weather',
    description: 'The weather in a city.',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  });
  const rain = [{ name: 'weather', args: { city: 'Oslo' }, id: 'call_1', type: 'tool_call' }];

  it('calls a tool and reads its answer', async () => {
    const bound = model('acme-all').bindTools([weather]);
    const question = new HumanMessage('Is it raining in Oslo?');
    const asked = await bound.invoke([question]);
    expect(asked.tool_calls).to.deep.equal(rain);
    const told = new ToolMessage({ content: 'Rain.', tool_call_id: 'call_1' });
    const answer = await bound.invoke([question, asked, told]);
    expect(answer).to.be.instanceOf(AIMessage);
    expect(answer.content).to.equal('Good day, 🌍!');
    expect(acme.sent()['messages']).to.have.length(3);
  });

  it('gathers a tool call from a stream', async () => {
    const gathered = await gather(await model('acme-all').bindTools([weather]).stream('Oslo?'));
    expect(gathered.tool_calls).to.deep.equal(rain);
  });

  const refusals = [
    { status: 401, type: AuthenticationError, name: 'acme-chat', key: () => 'tg-not-a-key' },
    { status: 400, type: BadRequestError, name: 'acme-chta' },
    { status: 402, type: APIError, name: 'acme-chat', key: () => acme.poor },
    { status: 502, type: InternalServerError, name: 'acme-broken' },
  ];
  for (const { status, type, name, key } of refusals) {
    it(`throws ${type.name} for ${status}`, async () => {
      const error: unknown = await model(name, key ? { apiKey: key() } : {})
        .invoke('Hello!')
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(type).with.property('status', status);
    });
  }
});
