import { expect } from 'chai';
import fc from 'fast-check';
import OpenAI from 'openai';
import Anthropic from '@anthropic-ai/sdk';
import { ask } from '../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { nearestEndpoint } from '../../src/gateway/nearest-endpoint.js';

const MEANT: [method: string, path: string, meant: string][] = [
  ['POST', '/chat/completions', '/v1/chat/completions'],
  ['POST', '/v1/v1/chat/completions', '/v1/chat/completions'],
  ['POST', '//v1//chat/completions', '/v1/chat/completions'],
  ['POST', '/openai/chat/completions', '/openai/v1/chat/completions'],
  ['POST', '/openai/v1/v1/chat/completions', '/openai/v1/chat/completions'],
  ['POST', '/openai/deployments/gpt/chat/completions', '/openai/v1/chat/completions'],
  ['POST', '/v1/chat/completions/chat/completions', '/v1/chat/completions'],
  ['POST', '/completions', '/v1/completions'],
  ['POST', '/responses', '/v1/responses'],
  ['POST', '/v1/v1/responses/input_tokens', '/v1/responses/input_tokens'],
  ['POST', '/embeddings', '/v1/embeddings'],
  ['POST', '/audio/speech', '/v1/audio/speech'],
  ['POST', '/messages', '/v1/messages'],
  ['POST', '/v1/v1/messages', '/v1/messages'],
  ['POST', '/anthropic/v1/messages/count_tokens', '/v1/messages/count_tokens'],
  [
    'POST',
    '/v1beta/v1beta/models/google/gemini:generateContent',
    '/v1beta/models/google/gemini:generateContent',
  ],
  [
    'POST',
    '/v2/models/gemini:streamGenerateContent',
    '/v1beta/models/gemini:streamGenerateContent',
  ],
  ['POST', '/v1/v1/models/gemini:countTokens', '/v1/models/gemini:countTokens'],
  ['POST', '/queue/google/veo', '/v1/queue/google/veo'],
  ['GET', '/queue/google/veo/requests/1/status', '/v1/queue/google/veo/requests/1/status'],
  ['GET', '/v1/v1/models', '/v1/models'],
  ['GET', '/v1/v1/models/google/gemini', '/v1/models/google/gemini'],
];

const UNKNOWN: [method: string, path: string][] = [
  ['POST', '/nothing'],
  ['POST', '/v1/chat'],
  ['GET', '/v1/x/y'],
  ['POST', '/queue'],
  ['POST', '/v1/queue'],
  ['GET', '/status'],
  ['GET', '/v1/requests/1/status'],
  ['PATCH', '/chat/completions'],
  ['GET', '/'],
];

describe('a request whose client has a wrong base URL', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway();
  });
  after(() => acme.close());

  for (const [method, path, meant] of MEANT) {
    it(`is told at ${method} ${path} that it means ${meant}`, async () => {
      const headers = { accept: 'text/event-stream' };
      const { status, text } = await ask(acme, path, { method, headers });
      expect(status).to.equal(404);
      expect(text).to.include(`There is nothing at ${method} ${path}. `);
      expect(text).to.include(`Did you mean ${method} ${meant}?`);
    });
  }

  for (const [method, path] of UNKNOWN) {
    it(`is told of no other address at ${method} ${path}`, () => {
      const { endpoints } = acme.gateway.configuration;
      expect(nearestEndpoint(endpoints, method, path)).to.equal(undefined);
    });
  }

  it("shows the address in the errors of OpenAI's and Anthropic's clients", async () => {
    const messages = [{ role: 'user' as const, content: 'Hello!' }];
    const openai = new OpenAI({ baseURL: acme.url, apiKey: acme.secret, maxRetries: 0 });
    const told: unknown = await openai.chat.completions
      .create({ model: 'acme-chat', messages })
      .catch((error: unknown) => error);
    expect(told).to.be.instanceOf(OpenAI.NotFoundError);
    expect(String(told)).to.include('Did you mean POST /v1/chat/completions?');
    const baseURL = `${acme.url}/v1`;
    const anthropic = new Anthropic({ baseURL, apiKey: acme.secret, maxRetries: 0 });
    const refused: unknown = await anthropic.messages
      .create({ model: 'acme-chat', max_tokens: 9, messages })
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Anthropic.NotFoundError);
    expect((refused as { error: object }).error).to.have.nested.property('error.type');
    expect(String(refused)).to.include('Did you mean POST /v1/messages?');
  });

  it('is told of an endpoint of its method, whatever its path is', () => {
    const { endpoints } = acme.gateway.configuration;
    const words = endpoints.flatMap(({ path }) => path.split('/'));
    const part = fc.oneof(fc.constantFrom(...words), fc.string());
    fc.assert(
      fc.property(fc.array(part), fc.constantFrom('GET', 'POST'), (parts, method) => {
        const found = nearestEndpoint(endpoints, method, parts.join('/'));
        if (!found) return;
        expect(found.endpoint.method).to.equal(method);
        expect(found.path).not.to.include('//');
        expect(nearestEndpoint([found.endpoint], method, found.path)?.path).to.equal(found.path);
      }),
    );
  });
});
