import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings, type ChatOpenAIFields } from '@langchain/openai';
import { expect } from 'chai';
import { APIError } from 'openai';
import {
  COST,
  errorOf,
  OBJECT,
  REFUSALS,
  SCHEMA,
  startSdkGateway,
  TEXT,
  VECTOR,
  type SdkGateway,
} from './helpers/sdk-gateway.js';

async function gather(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let gathered = new AIMessageChunk('');
  for await (const chunk of stream) gathered = gathered.concat(chunk);
  return gathered;
}

describe('LangChain', () => {
  let acme: SdkGateway;
  before(async () => {
    acme = await startSdkGateway();
  });
  after(() => acme.close());

  const weather = tool(() => 'Rain.', {
    name: 'weather',
    description: 'The weather in a city.',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  });
  const rain = { name: 'weather', args: { city: 'Oslo' }, id: 'call_1', type: 'tool_call' };
  const configuration = () => ({ baseURL: `${acme.url}/v1` });

  for (const useResponsesApi of [false, true]) {
    describe(useResponsesApi ? 'with responses' : 'with chat completions', () => {
      const model = (name = 'acme-chat', fields: ChatOpenAIFields = {}): ChatOpenAI =>
        new ChatOpenAI({
          model: name,
          apiKey: acme.secret,
          maxRetries: 0,
          useResponsesApi,
          configuration: configuration(),
          ...fields,
        });

      it('invokes a model and sees its usage', async () => {
        const messages = [new SystemMessage('Be brief.'), new HumanMessage('Hello!')];
        const costs = await acme.charged(async () => {
          const answer = await model('acme-chat', { temperature: 0, maxTokens: 50 }).invoke(
            messages,
          );
          expect(answer.text).to.equal(TEXT);
          expect(answer.usage_metadata).to.include({
            input_tokens: 9,
            output_tokens: 5,
            total_tokens: 14,
          });
        });
        expect(acme.sent()).to.include({ temperature: 0, max_tokens: 50 });
        expect(costs).to.deep.equal([COST.whole]);
      });

      it('streams a model, with usage at the end', async () => {
        const costs = await acme.charged(async () => {
          const gathered = await gather(await model().stream('Hello!'));
          expect(gathered.text).to.equal(TEXT);
          expect(gathered.usage_metadata).to.include({ total_tokens: 13 });
        });
        expect(costs).to.deep.equal([COST.streamed]);
      });

      it('calls a tool and reads its answer', async () => {
        const bound = model().bindTools([weather]);
        const question = new HumanMessage('Is it raining in Oslo?');
        const costs = await acme.charged(async () => {
          const asked = await bound.invoke([question]);
          expect(asked.tool_calls).to.have.length(1);
          expect(asked.tool_calls?.[0]).to.deep.include(rain);
          const told = new ToolMessage({ content: 'Rain.', tool_call_id: 'call_1' });
          const answer = await bound.invoke([question, asked, told]);
          expect(answer).to.be.instanceOf(AIMessage);
          expect(answer.text).to.equal(TEXT);
        });
        expect(acme.sent().messages).to.have.length(3);
        expect(costs).to.deep.equal([COST.tool, COST.whole]);
      });

      it('gathers a tool call from a stream', async () => {
        const gathered = await gather(await model().bindTools([weather]).stream('Oslo?'));
        expect(gathered.tool_calls?.[0]).to.deep.include(rain);
      });

      for (const method of ['jsonSchema', 'functionCalling'] as const) {
        it(`gives structured output by ${method}`, async () => {
          const asked = model().withStructuredOutput(SCHEMA, { name: 'place', method });
          expect(await asked.invoke('Oslo?')).to.deep.equal(OBJECT);
        });
      }

      for (const { status, model: name, key, says } of REFUSALS) {
        it(`throws an error for ${status}, with our words`, async () => {
          const error = await errorOf(model(name, { apiKey: key(acme) }).invoke('Hello!'));
          expect(error).to.be.instanceOf(APIError).with.property('status', status);
          expect((error as APIError).message).to.match(says);
        });
      }
    });
  }

  it('embeds texts', async () => {
    const costs = await acme.charged(async () => {
      const apiKey = acme.secret;
      const settings = { model: 'acme-vectors', apiKey, configuration: configuration() };
      const vectors = await new OpenAIEmbeddings(settings).embedDocuments(['a', 'b']);
      expect(vectors).to.deep.equal([VECTOR, VECTOR]);
    });
    expect(costs).to.deep.equal([COST.vector]);
  });
});
