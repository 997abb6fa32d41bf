import { expect } from 'chai';
import type { Capability, Model } from '../../../../src/core/model.js';
import { GatewayError } from '../../../../src/core/errors.js';
import type { ChatWork } from '../../../../src/modalities/chat/call.js';
import { chatWork } from '../../../../src/modalities/chat/formats/openai-request.js';
import { maxTokens } from '../../../../src/modalities/chat/price.js';
import type { ChatMessage } from '../../../../src/schema-types/chat-completion.js';
import { FREE, modelAt } from '../../../billing/helpers/terms.js';
import { providerAt } from '../../../helpers/upstream.js';

const PDF = Buffer.from('%PDF-1.7 << /Type /Pages /Count 3 >> ' + '<< /Type /Page >> '.repeat(3));
const dataUrl = (type: string, bytes: Buffer): string =>
  `data:${type};base64,${bytes.toString('base64')}`;
const file = (said: object): object => ({ type: 'file', file: said });

const ALL: Capability[] = ['chat', 'vision', 'audio', 'tools', 'file'];
const modelWith = (...capabilities: Capability[]): Model => ({
  ...modelAt([FREE]),
  capabilities: new Set(capabilities),
});

function work(part: object, model = modelWith(...ALL), role = 'user'): ChatWork {
  const message = { role, content: [part], ...(role === 'tool' && { tool_call_id: 'a' }) };
  return chatWork({ model: 'm', messages: [message as ChatMessage] }, model);
}

const sent = (made: ChatWork): unknown => made.call.messages[0]?.content?.[0];

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
    const pages = (said: object): number => work(file(said)).size.pages;
    expect(pages({ file_data: dataUrl('application/pdf', PDF) })).to.equal(3);
    expect(pages({ file_data: dataUrl('Application/PDF', Buffer.from('%PDF-1')) })).to.equal(100);
    expect(pages({ file_data: 'https://files.example.com/a.pdf' })).to.equal(100);
    expect(pages({ file_id: 'file-abc' })).to.equal(100);
  });

  it('counts by its bytes where it is text', () => {
    const { size } = work(file({ file_data: dataUrl('text/plain', Buffer.alloc(500, 'a')) }));
    expect([size.pages, size.text_bytes]).to.deep.equal([0, 500]);
  });

  it('is held for with the text and the picture of each page, up to the context', () => {
    const provider = providerAt('http://127.0.0.1');
    const bound = (model: Model, said: object): number =>
      maxTokens(work(file(said), model), model, provider).prompt_tokens;
    const model = modelWith(...ALL);
    const none = maxTokens(work({ type: 'text', text: '' }, model), model, provider).prompt_tokens;
    // The model takes 2,000 tokens for a picture.
    expect(bound(model, { file_data: dataUrl('application/pdf', PDF) }) - none).to.equal(15_000);
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
