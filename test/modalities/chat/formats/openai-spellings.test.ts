import { expect } from 'chai';
import { usualMessages } from '../../../../src/modalities/chat/formats/openai-spellings.js';
import { chat, completionOf, errorOf } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';

const URL_OUTSIDE = 'https://a.example/1.png';

describe('messages in an unusual spelling', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway();
  });
  after(() => acme.close());

  const looking = (image_url: unknown): object[] => [
    { role: 'user', content: [{ type: 'image_url', image_url }] },
  ];

  it('may have the address of an image as a text, as Mistral takes it', async () => {
    const answer = await chat(acme, { model: 'acme-all', messages: looking(URL_OUTSIDE) });
    completionOf(answer);
    expect(acme.sent()['messages']).to.deep.equal(looking({ url: URL_OUTSIDE }));
  });

  for (const text of ['x', 'file:///etc/passwd', 'http://127.0.0.1/a.png', '']) {
    it(`are refused where the text ${JSON.stringify(text)} is no address of an image`, async () => {
      const answer = await chat(acme, { model: 'acme-all', messages: looking(text) });
      expect(answer.status).to.equal(400);
      expect(errorOf(answer).param).to.equal('messages[0].content[0].image_url');
    });
  }

  it('may have an empty list of tool calls beside content', async () => {
    const messages = [
      { role: 'assistant', content: 'Hello!', tool_calls: [] },
      { role: 'user', content: 'Hi' },
    ];
    completionOf(await chat(acme, { model: 'acme-all', messages }));
    expect(acme.sent()['messages']).to.deep.equal([
      { role: 'assistant', content: 'Hello!' },
      { role: 'user', content: 'Hi' },
    ]);
  });

  it('are refused with an empty list of tool calls and nothing else', async () => {
    const messages = [{ role: 'assistant', content: null, tool_calls: [] }];
    const answer = await chat(acme, { model: 'acme-all', messages });
    expect(errorOf(answer).param).to.equal('messages[0].content');
  });

  it('are not copied where they are spelt as usual', () => {
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    expect(usualMessages(messages)).to.equal(messages);
  });
});
