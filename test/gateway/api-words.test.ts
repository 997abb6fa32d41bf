import { expect } from 'chai';
import { ask, type Answer } from '../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';

const HELLO = {
  model: 'acme-chat',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hello!' }],
};
const ID = /^[0-9a-f-]{36}$/u;

describe('the words of the API that a request belongs to', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway();
  });
  after(() => acme.close());

  const post = (path: string, body: object): Promise<Answer> =>
    ask(acme, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const MESSAGES: [string, number, object][] = [
    ['an answer', 200, HELLO],
    ['a stream', 200, { ...HELLO, stream: true }],
    ['an error', 400, { ...HELLO, model: 'none' }],
  ];
  for (const [what, status, body] of MESSAGES) {
    it(`are in the header request-id of ${what} of Messages, which its SDK reads`, async () => {
      const answer = await post('/v1/messages', body);
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('request-id')).to.match(ID);
      expect(answer.headers.get('request-id')).to.equal(answer.headers.get('x-request-id'));
    });
  }

  it('are in no such header of another format', async () => {
    const answer = await post('/v1/chat/completions', HELLO);
    expect(answer.headers.get('request-id')).to.equal(null);
  });

  for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }]) {
    it(`refuse a thread to ${thread.type}, so that the SDK sends the whole conversation`, async () => {
      const asked = acme.upstream.requests.length;
      const answer = await post('/v1/messages', { ...HELLO, thread });
      expect(answer.status).to.equal(400);
      const { type, error } = JSON.parse(answer.text) as { type: string; error: object };
      expect(type).to.equal('error');
      expect(error).to.deep.include({
        type: 'invalid_request_error',
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      });
      expect(acme.upstream.requests).to.have.length(asked);
    });
  }

  const GEMINI = { code: 404, status: 'NOT_FOUND' };
  const ANTHROPIC = { type: 'not_found_error' };
  const MISSES: [string, string, number, object][] = [
    ['POST', '/v1beta/models/acme-chat:predict', 404, GEMINI],
    ['POST', '/v1beta/models/acme-chat:asyncBatchEmbedContent', 404, GEMINI],
    ['POST', '/v1/models/acme-chat:foo', 404, GEMINI],
    ['POST', '/v1beta/files', 404, GEMINI],
    ['DELETE', '/v1beta/models/acme-chat', 405, { code: 405 }],
    ['GET', '/v1/messages/batches', 404, ANTHROPIC],
    ['GET', '/v1/messages', 405, { type: 'invalid_request_error' }],
    ['GET', '/v1/messages-of-others', 404, { code: 'not_found' }],
    ['POST', '/v1/models', 405, { code: 'method_not_allowed' }],
  ];
  for (const [method, path, status, words] of MISSES) {
    it(`are those of the error of ${method} ${path}, which no endpoint takes`, async () => {
      const answer = await ask(acme, path, { method });
      expect(answer.status).to.equal(status);
      const { error } = JSON.parse(answer.text) as { error: object };
      expect(error).to.include(words);
    });
  }

  const KEYS: [string, string][] = [
    ['/v1/messages', 'x-api-key'],
    ['/v1beta/models/acme-chat:generateContent', 'x-goog-api-key'],
  ];
  for (const [path, header] of KEYS) {
    it(`name ${header} where the key is missing at ${path}`, async () => {
      const answer = await fetch(acme.url + path, { method: 'POST', body: '{}' });
      expect(answer.status).to.equal(401);
      expect(await answer.text()).to.include(header);
    });
  }
});
