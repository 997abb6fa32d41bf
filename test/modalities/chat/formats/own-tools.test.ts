import { expect } from 'chai';
import { ask } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';

const parameters = { type: 'object', properties: {} };
const messages = [{ role: 'user', content: 'Hello!' }];
const contents = [{ role: 'user', parts: [{ text: 'Hello!' }] }];
const GEMINI = '/v1beta/models/all:generateContent';

interface Format {
  path: string;
  body: object;
  /** A function, and a tool that an upstream runs itself. */
  weather: object;
  search: object;
  /** The name of the latter in `tollgate-ignored`, and its type for upstreams. */
  named: string;
  type: string;
  /** A choice that demands the latter, if the format has one, and one that demands any. */
  forced?: object;
  any: object;
}

const CHAT: Omit<Format, 'path'> = {
  body: { messages },
  weather: { type: 'function', function: { name: 'weather', parameters } },
  search: { type: 'web_search' },
  named: 'tools[].web_search',
  type: 'web_search',
  forced: { tool_choice: { type: 'web_search' } },
  any: { tool_choice: 'required' },
};

const FORMATS: readonly Format[] = [
  { ...CHAT, path: '/v1/chat/completions' },
  { ...CHAT, path: '/openai/v1/chat/completions' },
  {
    ...CHAT,
    path: '/v1/responses',
    body: { input: 'Hello!' },
    weather: { type: 'function', name: 'weather', parameters },
  },
  {
    path: '/v1/messages',
    body: { messages, max_tokens: 9 },
    weather: { name: 'weather', input_schema: parameters },
    search: { type: 'web_search_20250305', name: 'web_search' },
    named: 'tools[].web_search_20250305',
    type: 'web_search_20250305',
    forced: { tool_choice: { type: 'tool', name: 'web_search' } },
    any: { tool_choice: { type: 'any' } },
  },
  {
    path: GEMINI,
    body: { contents },
    weather: { functionDeclarations: [{ name: 'weather', parameters }] },
    search: { googleSearch: {} },
    named: 'tools[].googleSearch',
    type: 'google_search',
    any: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
  },
];

const model = (id: string, more: string) => `
  ${id}: { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: acme }], price: *paid${more} }`;

describe('a tool that an upstream runs itself', () => {
  let acme: OpenaiGateway;
  before(async () => {
    const types = 'web_search, web_search_20250305, google_search';
    acme = await startOpenaiGateway({
      models: model('all', '') + model('listing', `, tool_types: [${types}]`),
    });
  });
  after(() => acme.close());

  const post = (path: string, body: object) =>
    ask(acme, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'all', ...body }),
    });

  for (const { path, body, weather, search, named, type, forced, any } of FORMATS) {
    it(`is left out and named at ${path}, as agents offer it with each request`, async () => {
      const answer = await post(path, { ...body, tools: [weather, search] });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('tollgate-ignored')).to.equal(named);
      const { tools } = acme.sent() as { tools: { type: string }[] };
      expect(tools.map((tool) => tool.type)).to.deep.equal(['function']);
      const alone = await post(path, { ...body, tools: [search] });
      expect(alone.status, alone.text).to.equal(200);
      expect(acme.sent()).not.to.have.any.keys('tools', 'tool_choice');
    });

    it(`is 400 at ${path} where the client demands it, and nothing is asked`, async () => {
      const asked = acme.upstream.requests.length;
      for (const [tools, choice] of [
        ...(forced ? [[[weather, search], forced] as const] : []),
        ...(forced ? [[[search], forced] as const] : []),
        [[search], any] as const,
      ]) {
        const { status, text } = await post(path, { ...body, tools, ...choice });
        expect([status, text], JSON.stringify(choice)).to.deep.include(400);
        expect(text).to.match(/tool_choice|toolConfig/u);
      }
      expect(acme.upstream.requests).to.have.length(asked);
    });

    it(`is sent at ${path} where the model lists its type`, async () => {
      const at = path.replace('all', 'listing');
      const answer = await post(at, { ...body, model: 'listing', tools: [weather, search] });
      expect(answer.status, answer.text).to.equal(200);
      const { tools } = acme.sent() as { tools: { type: string }[] };
      expect(tools.map((tool) => tool.type)).to.deep.equal(['function', type]);
    });
  }
});
