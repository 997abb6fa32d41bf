import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { chat, completionOf, errorOf } from '../../../helpers/ask.js';

const text = { type: 'text', text: 'What is this?' };
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
const toolCalls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
const parts = (...content: object[]): object[] => [{ role: 'user', content }];

describe('messages and what a model can take', () => {
  let acme: OpenaiGateway;

  before(async () => {
    const model = (words: string): string =>
      `{ owner: acme, capabilities: [${words}], upstreams: [{ provider: acme }], price: free }`;
    acme = await startOpenaiGateway({
      models: `
  sees: ${model('chat, vision')}
  hears: ${model('chat, audio')}
  works: ${model('chat, tools')}
`,
    });
  });
  after(() => acme.close());

  const toolAnswer = { role: 'tool', content: 'x', tool_call_id: 'a' };
  const table: { model: string; what: string; messages: object[]; refused?: string }[] = [
    { model: 'sees', what: 'an image', messages: parts(text, image) },
    {
      model: 'hears',
      what: 'an image',
      messages: parts(text, image),
      refused: 'messages[0].content[1]',
    },
    {
      model: 'acme-chat',
      what: 'an image',
      messages: parts(image),
      refused: 'messages[0].content[0]',
    },
    { model: 'hears', what: 'audio', messages: parts(audio) },
    {
      model: 'sees',
      what: 'audio',
      messages: [...parts(text), ...parts(text, audio)],
      refused: 'messages[1].content[1]',
    },
    { model: 'works', what: 'the answer of a tool', messages: [toolAnswer] },
    {
      model: 'sees',
      what: 'the answer of a tool',
      messages: [toolAnswer],
      refused: 'messages[0].role',
    },
  ];
  for (const { model, what, messages, refused } of table) {
    it(`${refused ? 'refuses' : 'takes'} ${what} at the model "${model}"`, async () => {
      const answer = await chat(acme, { model, messages });
      if (refused === undefined) return void completionOf(answer);
      expect(answer.status).to.equal(400);
      expect(errorOf(answer)).to.include({ code: 'unsupported_capability', param: refused });
    });
  }

  it('sends parts on as they came, in their order', async () => {
    const messages = parts(text, image, audio);
    await chat(acme, { model: 'acme-all', messages });
    expect(acme.sent()['messages']).to.deep.equal(messages);
  });

  it('holds a model without tools to the strict contract', async () => {
    const messages = [{ role: 'assistant', content: null, tool_calls: toolCalls }];
    const answer = await chat(acme, { model: 'acme-chat', messages });
    expect(answer.status).to.equal(400);
    expect(errorOf(answer).param).to.equal('messages[0].content');
  });

  it('drops and names what a message may not carry', async () => {
    const messages = [{ role: 'user', content: 'Hello!', tool_calls: toolCalls, mood: 'sunny' }];
    const plain = await chat(acme, {
      model: 'acme-chat',
      messages: [{ ...messages[0], role: 'assistant' }],
    });
    expect(plain.headers.get('tollgate-ignored')).to.equal(
      'messages[].tool_calls, messages[].mood',
    );
    expect(acme.sent()['messages']).to.deep.equal([{ role: 'assistant', content: 'Hello!' }]);
  });

  it('drops and names what a tool call may not carry', async () => {
    const [call] = toolCalls;
    const messages = [{ role: 'assistant', tool_calls: [{ ...call, extra: { deep: [[]] } }] }];
    const answer = await chat(acme, { model: 'works', messages });
    expect(answer.headers.get('tollgate-ignored')).to.equal('messages[].tool_calls[].extra');
    expect(acme.sent()['messages']).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: toolCalls },
    ]);
  });

  it('drops and names what an image part may not carry', async () => {
    const dear = {
      type: 'image_url',
      image_url: { url: 'https://a.example/1.png', detail: 'high' },
    };
    const answer = await chat(acme, { model: 'sees', messages: parts(dear) });
    expect(answer.headers.get('tollgate-ignored')).to.equal(
      'messages[].content[].image_url.detail',
    );
    expect(acme.sent()['messages']).to.deep.equal([
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'https://a.example/1.png' } }],
      },
    ]);
  });

  it('sends the role developer as system', async () => {
    const answer = await chat(acme, {
      model: 'acme-chat',
      messages: [{ role: 'developer', content: 'Be brief.', name: 'dev' }],
    });
    completionOf(answer);
    expect(acme.sent()['messages']).to.deep.equal([
      { role: 'system', content: 'Be brief.', name: 'dev' },
    ]);
  });
});
