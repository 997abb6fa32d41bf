import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/errors.js';
import type { Model, Capability } from '../../../../src/core/model.js';
import { compileShippedSchema } from '../../../../src/http/body-schema.js';
import type { ChatRequest } from '../../../../src/modalities/chat/call.js';
import { chatRequest } from '../../../../src/modalities/chat/formats/chat-completion.js';
import { repairBody } from '../../../../src/modalities/chat/formats/openai-tidy.js';
import type {
  ChatCompletionBody,
  ChatMessage,
} from '../../../../src/schema-types/chat-completion.js';
import { FREE, modelAt } from '../../../billing/helpers/terms.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { chat, completionOf, errorOf } from '../../../helpers/ask.js';
import { maxTokens, withMedia } from '../../../../src/modalities/chat/price.js';
import { providerAt } from '../../../helpers/upstream.js';

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

  it('the name of a call, which Gemini is told with each result, was as long as a client liked', async () => {
    const calling = (name: string) => {
      const tool_calls = [{ id: 'a', type: 'function', function: { name, arguments: '{}' } }];
      return { role: 'assistant', content: null, tool_calls };
    };
    const ask = (name: string) =>
      chat(acme, { model: 'works', messages: [calling(name), toolAnswer] });
    const { param } = errorOf(await ask('x'.repeat(257)));
    expect(param).to.equal('messages[0].tool_calls[0].function.name');
    expect((await ask('x'.repeat(256))).status).to.equal(200);
  });
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
    expect(acme.sent().messages).to.deep.equal(messages);
  });

  it('names the missing tools, not the content of a call', async () => {
    const messages = [{ role: 'assistant', content: null, tool_calls: toolCalls }];
    const answer = await chat(acme, { model: 'acme-chat', messages });
    expect(answer.status).to.equal(400);
    const param = 'messages[0].tool_calls';
    expect(errorOf(answer)).to.include({ code: 'unsupported_capability', param });
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
    expect(acme.sent().messages).to.deep.equal([{ role: 'assistant', content: 'Hello!' }]);
  });

  it('drops and names what a tool call may not carry', async () => {
    const [call] = toolCalls;
    const messages = [{ role: 'assistant', tool_calls: [{ ...call, extra: { deep: [[]] } }] }];
    const answer = await chat(acme, { model: 'works', messages });
    expect(answer.headers.get('tollgate-ignored')).to.equal('messages[].tool_calls[].extra');
    expect(acme.sent().messages).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: toolCalls },
    ]);
  });

  it('drops and names what an image part may not carry', async () => {
    const url = 'https://a.example/1.png';
    const dear = { type: 'image_url', image_url: { url, mood: 'sunny' }, frame: 'gold' };
    const answer = await chat(acme, { model: 'sees', messages: parts(dear) });
    expect(answer.headers.get('tollgate-ignored')).to.equal(
      'messages[].content[].frame, messages[].content[].image_url.mood',
    );
    const sent = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    expect(acme.sent().messages).to.deep.equal(sent);
  });

  it('sends the role developer as system', async () => {
    const answer = await chat(acme, {
      model: 'acme-chat',
      messages: [{ role: 'developer', content: 'Be brief.', name: 'dev' }],
    });
    completionOf(answer);
    expect(acme.sent().messages).to.deep.equal([
      { role: 'system', content: 'Be brief.', name: 'dev' },
    ]);
  });
});

describe('what an earlier answer brings back', () => {
  const model: Model = { ...modelAt([FREE]), capabilities: new Set(['chat', 'tools']) };
  const work = (...messages: object[]): ChatRequest =>
    chatRequest({ model: 'm', messages: messages as ChatMessage[] }, model);
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const details = [
    {
      type: 'reasoning.text',
      text: 'Hm',
      signature: 'c2ln',
      format: 'anthropic-claude-v1',
      index: 0,
    },
    { type: 'reasoning.encrypted', data: 'ZGF0YQ==', id: 'a', own: { deep: [1] } },
  ];

  it('is its reasoning, text and signed parts as they came, counted as prompt', () => {
    const turn = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' };
    const signed = { ...turn, reasoning_details: details };
    const { call, size, ignored } = work(signed, { role: 'user', content: 'On' });
    expect(call.messages[0]).to.deep.equal(signed);
    expect(size.text_bytes).to.equal('Hi'.length + 'Hm'.length + bytes(details) + 'On'.length);
    expect(ignored).to.deep.equal([]);
  });

  it('is nothing where it is null or empty', () => {
    const turn = { role: 'assistant', content: 'Hi' };
    const nothing = { reasoning_content: null, reasoning_details: [], refusal: null, audio: null };
    const { call, ignored } = work({ ...turn, ...nothing }, { ...turn, reasoning_details: null });
    expect(call.messages).to.deep.equal([turn, turn]);
    expect(ignored).to.deep.equal([]);
  });

  it('is named as ignored on a message of anyone else', () => {
    const { call, ignored } = work({ role: 'user', content: 'Hi', reasoning_content: 'Hm' });
    expect(call.messages).to.deep.equal([{ role: 'user', content: 'Hi' }]);
    expect(ignored).to.deep.equal(['messages[].reasoning_content']);
  });

  it('is refused beyond a thousand parts, or too many levels', () => {
    const turn = (reasoning_details: object[]): object => ({
      role: 'assistant',
      content: 'Hi',
      reasoning_details,
    });
    const many = Array.from({ length: 1_001 }, () => ({ type: 'reasoning.text' }));
    const deep = JSON.parse(`${'['.repeat(250)}${']'.repeat(250)}`) as object;
    for (const list of [many, [{ deep }]]) {
      expect(() => work(turn(list)))
        .to.throw(GatewayError)
        .with.property('param', 'messages[0].reasoning_details');
    }
  });

  it('is its refusal, as text', () => {
    const body = {
      model: 'm',
      messages: [
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'Never.' }] },
      ],
    };
    expect(repairBody(body)).to.equal(true);
    compileShippedSchema('chat-completion')(body);
    expect(chatRequest(body as ChatCompletionBody, model).call.messages).to.deep.equal([
      { role: 'assistant', content: 'No.' },
      { role: 'assistant', content: [{ type: 'text', text: 'Never.' }] },
    ]);
  });

  it('has marks for the cache on messages, parts and tools', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const marked = { ...cache_control, mood: 'sunny' };
    const text = { type: 'text', text: 'Hi' };
    const tool = { type: 'function', function: { name: 'f' } };
    const { call } = chatRequest(
      {
        model: 'm',
        messages: [
          { role: 'system', content: 'Hi', cache_control: marked },
          { role: 'user', content: [{ ...text, cache_control: marked }] },
        ] as ChatMessage[],
        tools: [{ ...tool, cache_control: marked }],
      },
      model,
    );
    expect(call.messages).to.deep.equal([
      { role: 'system', content: 'Hi', cache_control },
      { role: 'user', content: [{ ...text, cache_control }] },
    ]);
    expect(call.fields.tools).to.deep.equal([{ ...tool, cache_control }]);
  });

  it('is not copied where a message is a role and a text', () => {
    const message = { role: 'user', content: 'Hi' };
    expect(work(message).call.messages[0]).to.equal(message);
  });
});

const PDF = Buffer.from('%PDF-1.7 << /Type /Pages /Count 3 >> ' + '<< /Type /Page >> '.repeat(3));
const dataUrl = (type: string, bytes: Buffer): string =>
  `data:${type};base64,${bytes.toString('base64')}`;
const file = (said: object): object => ({ type: 'file', file: said });

const ALL: Capability[] = ['chat', 'vision', 'audio', 'tools', 'file'];
const modelWith = (...capabilities: Capability[]): Model => ({
  ...modelAt([FREE]),
  capabilities: new Set(capabilities),
});

function work(part: object, model = modelWith(...ALL), role = 'user'): ChatRequest {
  const message = { role, content: [part], ...(role === 'tool' && { tool_call_id: 'a' }) };
  return chatRequest({ model: 'm', messages: [message as ChatMessage] }, model);
}

const sent = (made: ChatRequest): unknown => made.call.messages[0]?.content?.[0];

function refusalOf(part: object, model?: Model): GatewayError {
  try {
    work(part, model);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('The part was taken.');
}

describe('a file in a message', () => {
  it('travels with its name, as a data: URL, a URL or an ID', () => {
    const ways = [
      { filename: 'a.pdf', file_data: dataUrl('application/pdf', PDF) },
      { file_data: 'https://files.example.com/a.pdf' },
      { file_id: 'file-abc' },
    ];
    for (const way of ways) expect(sent(work(file(way)))).to.deep.equal(file(way));
  });

  it('is refused where the model does not take files', () => {
    const refusal = refusalOf(file({ file_id: 'a' }), modelWith('chat', 'vision'));
    expect(refusal.toJSON().error).to.include({
      code: 'unsupported_capability',
      param: 'messages[0].content[0]',
    });
  });

  const refused: [string, object, string][] = [
    ['is neither data nor an ID', {}, 'file'],
    ['is both', { file_data: 'https://a.example/1.pdf', file_id: 'a' }, 'file'],
    ['is bare base64', { file_data: PDF.toString('base64') }, 'file.file_data'],
    ['is a path', { file_data: 'file:///etc/passwd' }, 'file.file_data'],
    ['is inside', { file_data: 'http://169.254.169.254/a.pdf' }, 'file.file_data'],
  ];
  for (const [what, said, field] of refused) {
    it(`is refused where it ${what}`, () => {
      const { code, param } = refusalOf(file(said));
      expect({ code, param }).to.deep.equal({
        code: 'invalid_request',
        param: `messages[0].content[0].${field}`,
      });
    });
  }

  it('counts by the pages of its PDF, and by a hundred where it does not show them', () => {
    const pages = (said: object, read?: number): number => {
      const { size, media } = work(file(said));
      return withMedia(size, media, [read]).pages;
    };
    expect(pages({ file_data: dataUrl('application/pdf', PDF) }, 3)).to.equal(3);
    const unread = Buffer.from('%PDF-1'.padEnd(100));
    expect(pages({ file_data: dataUrl('Application/PDF', unread) })).to.equal(100);
    // A byte may show eight pages.
    expect(pages({ file_data: dataUrl('application/pdf', Buffer.from('%PDF-1')) })).to.equal(48);
    expect(pages({ file_data: 'https://files.example.com/a.pdf' })).to.equal(100);
    expect(pages({ file_id: 'file-abc' })).to.equal(100);
  });

  it('counts by its bytes where it is text', () => {
    const { size } = work(file({ file_data: dataUrl('text/plain', Buffer.alloc(500, 'a')) }));
    expect([size.pages, size.text_bytes]).to.deep.equal([0, 500]);
  });

  it('is held for with the text and the picture of each page, up to the context', () => {
    const provider = providerAt('http://127.0.0.1');
    const bound = (model: Model, said: object, read?: number): number => {
      const made = work(file(said), model);
      const size = withMedia(made.size, made.media, [read]);
      return maxTokens({ ...made, size }, model, provider).prompt_tokens;
    };
    const model = modelWith(...ALL);
    const none = maxTokens(work({ type: 'text', text: '' }, model), model, provider).prompt_tokens;
    // The model takes 2,000 tokens for a picture.
    const padded = Buffer.concat([Buffer.from(PDF), Buffer.alloc(100)]);
    const pdf = { file_data: dataUrl('application/pdf', padded) };
    expect(bound(model, pdf, 3) - none).to.equal(15_000);
    expect(bound(model, pdf) - none).to.equal(1_000 * 5_000);
    const narrow = { ...model, limits: { ...model.limits, context: 9_000 } };
    expect(bound(narrow, { file_id: 'a' }) - none).to.equal(9_000);
  });

  it('drops and names what it may not carry', () => {
    const made = work(file({ file_id: 'a', mood: 'sunny' }));
    expect(sent(made)).to.deep.equal(file({ file_id: 'a' }));
    expect(made.ignored).to.deep.equal(['messages[].content[].file.mood']);
  });
});

describe('an image in a message', () => {
  const url = 'https://a.example/1.png';
  const image = { type: 'image_url', image_url: { url, detail: 'low' } };

  it('travels with its detail and its mark for the cache', () => {
    const cache_control = { type: 'ephemeral' };
    expect(sent(work({ ...image, cache_control }))).to.deep.equal({ ...image, cache_control });
  });

  it('may be the answer of a tool', () => {
    const made = work(image, modelWith(...ALL), 'tool');
    expect(sent(made)).to.deep.equal(image);
    expect(made.size).to.include({ images: 1, urls: 1 });
  });

  it('is no URL to fetch where it is a data: URL', () => {
    const data = dataUrl('image/png', Buffer.from('a'));
    expect(work({ type: 'image_url', image_url: { url: data } }).size.urls).to.equal(0);
  });
});
