import { expect } from 'chai';
import { repairBody } from '../../../../src/modalities/chat/formats/openai-tidy.js';
import { ask, chat, errorOf } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';

const FIELDS = [
  'stream',
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'n',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'seed',
  'functions',
  'response_format',
  'flavour',
];
const hello = { role: 'user', content: 'Hello!' };

describe('null in an optional field', () => {
  let acme: OpenaiGateway;
  before(async () => (acme = await startOpenaiGateway()));
  after(() => acme.close());

  for (const path of ['/v1/chat/completions', '/openai/v1/chat/completions']) {
    it(`is as if the field were absent, at ${path}`, async () => {
      for (const field of FIELDS) {
        const body = { model: 'acme-all', messages: [hello], [field]: null };
        const answer = await ask(acme, path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect(answer.status, field).to.equal(200);
        expect(answer.headers.get('tollgate-ignored'), field).to.equal(null);
        expect(Object.values(acme.sent()), field).not.to.include(null);
      }
    });
  }

  it('is as if the field were absent, in messages, parts and tools too', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      { ...hello, name: null, tool_calls: null, tool_call_id: null, cache_control: null },
      { role: 'assistant', content: 'Hi', tool_calls: [], refusal: null, annotations: null },
      { role: 'assistant', content: null, tool_calls: [{ ...call, index: null }] },
      {
        role: 'tool',
        content: [{ type: 'text', text: 'x', cache_control: null }],
        tool_call_id: 'a',
      },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:,', detail: null } }],
      },
    ];
    const tools = [{ type: 'function', function: { name: 'f' }, cache_control: null }];
    const answer = await chat(acme, { model: 'acme-all', messages, tools });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('tollgate-ignored')).to.equal(null);
    expect(acme.sent().messages).to.deep.equal([
      hello,
      { role: 'assistant', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: [{ type: 'text', text: 'x' }], tool_call_id: 'a' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] },
    ]);
    expect(acme.sent().tools).to.deep.equal([{ type: 'function', function: { name: 'f' } }]);
  });

  it('stays null inside what is sent on as it is', async () => {
    const parameters = { type: 'object', properties: { a: { enum: ['x', null], default: null } } };
    const tools = [{ type: 'function', function: { name: 'f', parameters } }];
    await chat(acme, { model: 'acme-all', messages: [hello], stop: null, tools });
    expect(acme.sent().tools).to.deep.equal(tools);
  });

  it('is refused where the field is required', async () => {
    const rows: [object, string][] = [
      [{ messages: null }, 'messages'],
      [{ messages: [{ role: null, content: 'x' }] }, 'messages[0].role'],
      [{ messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
      [{ messages: [{ role: 'assistant', content: null, tool_calls: [] }] }, 'messages[0].content'],
    ];
    for (const [fields, param] of rows) {
      const answer = await chat(acme, { model: 'acme-all', ...fields });
      expect([answer.status, errorOf(answer).param]).to.deep.equal([400, param]);
    }
  });

  it('is nothing to mend where there is none', () => {
    for (const body of [null, 'text', [], {}, { messages: [hello, null, 5], tools: 'x' }]) {
      expect(repairBody(body), JSON.stringify(body)).to.equal(false);
    }
  });
});

describe('the address of an image as a text', () => {
  let acme: OpenaiGateway;
  before(async () => (acme = await startOpenaiGateway()));
  after(() => acme.close());

  const looking = (image_url: unknown): object[] => [
    { role: 'user', content: [{ type: 'image_url', image_url }] },
  ];
  const see = (image_url: unknown) =>
    chat(acme, { model: 'acme-all', messages: looking(image_url) });

  it("is Mistral's spelling of an image, and goes on as the usual one", async () => {
    const url = 'https://a.example/1.png';
    expect((await see(url)).status).to.equal(200);
    expect(acme.sent().messages).to.deep.equal(looking({ url }));
  });

  it('is refused where it is no address, or leads inside', async () => {
    const at = 'messages[0].content[0].image_url';
    expect(errorOf(await see('x')).param).to.equal(at);
    expect(errorOf(await see('http://127.0.0.1/a.png')).param).to.equal(`${at}.url`);
  });
});
