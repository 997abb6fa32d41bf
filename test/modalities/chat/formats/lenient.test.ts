import { expect } from 'chai';
import { ask, errorOf, type Answer } from '../../../helpers/ask.js';
import { startClaude } from '../../../helpers/claude-server.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { startGemini } from '../../../helpers/gemini-server.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../../../helpers/upstream.js';

interface Sent {
  messages: { role: string; content?: unknown; tool_calls?: object[]; tool_call_id?: string }[];
  tools?: { function: { name: string } }[];
}

const PRICE = 'price: { input_per_million: 1, output_per_million: 2 }';
const ALL = 'capabilities: [chat, vision, audio, tools, file]';

/** Its upstreams refuse turns that say nothing, as Mistral, Anthropic and Gemini do. */
describe('a request with more than the gateway reads', () => {
  let openai: FakeUpstream;
  let claude: FakeUpstream;
  let gemini: FakeUpstream;
  let gateway: TestGateway;
  /** Whether the upstream demands that roles alternate. */
  let alternates = false;

  before(async () => {
    openai = await startUpstream(({ json }, response) => {
      const { messages } = json as Sent;
      const isEmpty = messages.some(
        ({ role, content, tool_calls }) =>
          role !== 'tool' && !tool_calls?.length && (!content || (content as []).length === 0),
      );
      const isTwice =
        alternates &&
        messages.some(({ role }, at) => role !== 'tool' && role === messages[at + 1]?.role);
      const body = JSON.stringify({
        error: { message: 'a turn is empty, or roles do not alternate' },
      });
      return play(isEmpty || isTwice ? { status: 400, body } : chatJson('Good day'), response);
    });
    claude = await startClaude(() => [{ type: 'text', text: 'Good day' }]);
    gemini = await startGemini(() => [[{ text: 'Good' }], [{ text: ' day' }]]);
    const model = (name: string, capabilities: string, provider: string): string =>
      `  ${name}: { owner: acme, ${capabilities}, upstreams: [{ provider: ${provider}, model: some-model }], ${PRICE} }`;
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  openai: { base_url: '${openai.url}', api_key: sk-up }
  claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant }
  gemini: { base_url: '${gemini.url}', api_key: AIza }
models:
${model('openai', ALL, 'openai')}
${model('claude', ALL, 'claude')}
${model('gemini', ALL, 'gemini')}
${model('plain', 'capabilities: [chat]', 'openai')}
`);
  });
  after(async () => {
    await gateway.close();
    for (const upstream of [openai, claude, gemini]) await upstream.close();
  });

  const post = (path: string, body: object): Promise<Answer> =>
    ask(gateway, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const expectOk = (answer: Answer, what = ''): Answer => {
    expect(answer.status, `${what} ${answer.text}`).to.equal(200);
    return answer;
  };
  const ignoredOf = ({ headers }: Answer): string[] =>
    headers.get('tollgate-ignored')?.split(', ') ?? [];
  const sent = (): Sent => openai.requests.at(-1)?.json as Sent;

  describe('in the history of Responses', () => {
    const say = (text: string): object => ({ role: 'user', content: text });
    const SEARCH = { type: 'tool_search_call', arguments: { query: 'x', limit: 3 } };

    const ITEMS: object[] = [
      { ...SEARCH, call_id: 'c1' },
      { type: 'mcp_list_tools', server_label: 's', tools: [{ name: 't' }] },
      { type: 'computer_call_output', call_id: 'c2', output: { type: 'computer_screenshot' } },
      { type: 'shell_call_output', call_id: 'c3', output: [{ stdout: 'x' }] },
      { type: 'mcp_call', name: 7, arguments: [], output: null, role: {}, content: { a: 1 } },
      { type: 'of_next_year', call_id: [], summary: 'x', tools: 'none', encrypted_content: 1 },
    ];
    for (const item of ITEMS) {
      const { type } = item as { type: string };
      it(`leaves ${type} out and names it, whatever its fields are`, async () => {
        for (const model of ['openai', 'claude', 'gemini']) {
          const input = [say('One.'), item, say('Two.')];
          const answer = expectOk(await post('/v1/responses', { model, input }), model);
          expect(ignoredOf(answer), model).to.deep.equal([`input[].${type}`]);
        }
      });
    }

    it('takes a search for tools and what it found as a call and its result', async () => {
      const found = { type: 'function', name: 'weather', parameters: { type: 'object' } };
      for (const call_id of ['c1', null]) {
        const output = { type: 'tool_search_output', call_id, execution: 'server', tools: [found] };
        const input = [say('One.'), { ...SEARCH, call_id }, output, say('Two.')];
        for (const model of ['openai', 'claude', 'gemini']) {
          const answer = expectOk(await post('/v1/responses', { model, input }), model);
          expect(ignoredOf(answer), model).to.deep.equal([]);
        }
        await post('/v1/responses', { model: 'openai', input });
        const { messages, tools } = sent();
        expect(messages.map(({ role }) => role)).to.deep.equal([
          'user',
          'assistant',
          'tool',
          'user',
        ]);
        const [call] = (messages[1]?.tool_calls ?? []) as { id: string; function: object }[];
        expect(call?.function).to.deep.equal({
          name: 'tool_search',
          arguments: '{"query":"x","limit":3}',
        });
        expect(messages[2]).to.deep.include({ tool_call_id: call?.id });
        expect(messages[2]?.content).to.include('weather');
        expect(tools?.map((tool) => tool.function.name)).to.deep.equal(['weather']);
      }
    });

    it('reads the items that it knows as strictly as before', async () => {
      const call = { type: 'function_call', call_id: 'c1', name: 'x', arguments: { a: 1 } };
      const answer = await post('/v1/responses', { model: 'openai', input: [say('One.'), call] });
      expect([answer.status, errorOf(answer).param]).to.deep.equal([400, 'input[1].arguments']);
    });

    it('takes null in a field that is absent', async () => {
      const call = {
        type: 'function_call',
        call_id: 'c1',
        name: 'x',
        arguments: '{}',
        output: null,
      };
      const result = { type: 'function_call_output', call_id: 'c1', output: 'ok', role: null };
      const input = [say('One.'), call, result];
      expectOk(await post('/v1/responses', { model: 'openai', input }));
    });
  });

  it('leaves unknown blocks of Messages out, where their fields are texts', async () => {
    const odd = {
      type: 'of_next_year',
      input: 'text',
      source: 'text',
      id: 7,
      cache_control: 'yes',
    };
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'One.' }, odd] },
      { role: 'assistant', content: [odd] },
      { role: 'user', content: [odd] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'x', input: {} }, odd] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [odd] }] },
    ];
    for (const model of ['openai', 'claude', 'gemini']) {
      const answer = await post('/v1/messages', { model, max_tokens: 50, messages });
      expect(ignoredOf(expectOk(answer, model))).to.include('messages[].content[].of_next_year');
    }
  });

  it('leaves unknown parts of Gemini out', async () => {
    const odd = { ofNextYear: 'text', mediaResolution: { level: 1 }, partMetadata: [] };
    const contents = [
      { role: 'user', parts: [{ text: 'One.' }, odd] },
      { role: 'model', parts: [odd] },
      { role: 'user', parts: [odd, { text: 'Two.' }] },
    ];
    const systemInstruction = { parts: [odd, { text: 'Be kind.' }] };
    for (const model of ['openai', 'claude', 'gemini']) {
      const path = `/v1beta/models/${model}:generateContent`;
      const answer = expectOk(await post(path, { contents, systemInstruction }), model);
      expect(ignoredOf(answer)).to.include.members([
        'contents[].parts[].ofNextYear',
        'systemInstruction.parts[].ofNextYear',
      ]);
    }
  });

  it('leaves unknown parts of OpenAI chat out, which the contract of /v1 refuses', async () => {
    const odd = { type: 'video_url', video_url: 'https://example.com/a.mp4', text: 7 };
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'One.' }, odd] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: [{ text: 'Hm.' }] }] },
      { role: 'user', content: [odd] },
      { role: 'user', content: 'Two.' },
    ];
    const named = ['messages[].content[].video_url', 'messages[].content[].thinking'];
    for (const model of ['openai', 'claude', 'gemini']) {
      const answer = await post('/openai/v1/chat/completions', { model, messages });
      expect(ignoredOf(expectOk(answer, model))).to.have.members(named);
    }
    const answer = await post('/v1/chat/completions', { model: 'openai', messages });
    expect([answer.status, errorOf(answer).param]).to.deep.equal([
      400,
      'messages[0].content[1].type',
    ]);
  });

  describe('of an assistant that said nothing', () => {
    before(() => (alternates = true));
    after(() => (alternates = false));
    const around = (turn: object): object[] => [
      { role: 'user', content: 'One.' },
      { role: 'assistant', ...turn },
      { role: 'user', content: 'Two.' },
    ];
    const signed = { type: 'reasoning.text', text: 'Hm.', format: 'anthropic-claude-v1' };
    const TURNS: [string, object][] = [
      ['content: null', { content: null }],
      ['no content', {}],
      ['an empty text', { content: '' }],
      ['no parts', { content: [] }],
      ['tool_calls: []', { content: null, tool_calls: [] }],
      ['reasoning alone', { content: null, reasoning_content: 'Hm.' }],
      ['reasoning details alone', { content: null, reasoning_details: [signed] }],
    ];
    for (const [name, turn] of TURNS) {
      it(`takes ${name} at /openai/v1/chat/completions`, async () => {
        const messages = around(turn);
        for (const model of ['openai', 'claude', 'gemini']) {
          expectOk(await post('/openai/v1/chat/completions', { model, messages }), model);
        }
      });
    }

    it('joins the turns of the user that then follow each other', async () => {
      const messages = around({ content: null, reasoning_content: 'Hm.' });
      const body = { model: 'openai', messages };
      const answer = expectOk(await post('/openai/v1/chat/completions', body));
      expect(sent().messages).to.deep.equal([{ role: 'user', content: 'One.\n\nTwo.' }]);
      expect(ignoredOf(answer)).to.deep.equal(['messages[].reasoning_content']);
    });

    it('refuses null at /v1/chat/completions, and takes what its contract allows', async () => {
      for (const turn of [{ content: null }, { content: null, tool_calls: [] }]) {
        const body = { model: 'openai', messages: around(turn) };
        const answer = await post('/v1/chat/completions', body);
        expect([answer.status, errorOf(answer).param]).to.deep.equal([400, 'messages[1].content']);
      }
      for (const turn of [
        { content: '' },
        { content: '', reasoning_content: 'Hm.' },
        { content: '', tool_calls: [] },
      ]) {
        for (const model of ['openai', 'claude', 'gemini']) {
          expectOk(await post('/v1/chat/completions', { model, messages: around(turn) }), model);
        }
      }
    });

    it('takes it in Messages, Responses and Gemini', async () => {
      const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' };
      const item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] };
      const one = { role: 'user', content: 'One.' };
      const two = { role: 'user', content: 'Two.' };
      for (const model of ['openai', 'claude', 'gemini']) {
        for (const content of [null, [], '', [thinking], [{ type: 'text', text: '' }]]) {
          const body = { model, max_tokens: 50, messages: around({ content }) };
          expectOk(await post('/v1/messages', body), `${model} ${JSON.stringify(content)}`);
        }
        for (const turn of [
          item,
          { role: 'assistant', content: null },
          { role: 'assistant', content: [] },
        ]) {
          const body = { model, input: [one, turn, two] };
          expectOk(await post('/v1/responses', body), `${model} ${JSON.stringify(turn)}`);
        }
        for (const parts of [[], undefined, [{ text: '' }], [{ text: 'Hm.', thought: true }]]) {
          const contents = [
            { role: 'user', parts: [{ text: 'One.' }] },
            { role: 'model', parts },
            { role: 'user', parts: [{ text: 'Two.' }] },
          ];
          const path = `/v1beta/models/${model}:generateContent`;
          expectOk(await post(path, { contents }), `${model} ${JSON.stringify(parts)}`);
        }
      }
    });

    it('refuses a conversation of nothing else', async () => {
      const messages = [{ role: 'assistant', content: null }];
      const answer = await post('/openai/v1/chat/completions', { model: 'openai', messages });
      expect([answer.status, errorOf(answer).param]).to.deep.equal([400, 'messages']);
    });
  });

  describe('at a model that lacks a capability', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const chat = (...messages: object[]) => ({
      messages: [{ role: 'user', content: 'One.' }, ...messages],
    });
    const user = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
    const CASES: [string, string, object][] = [
      [
        'tools',
        'messages[1].tool_calls',
        chat(
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c1', content: 'sun' },
        ),
      ],
      ['tools', 'messages[1].tool_calls', chat({ role: 'assistant', tool_calls: [call] })],
      ['tools', 'messages[1]', chat({ role: 'assistant', content: null, tool_calls: [{ id: 1 }] })],
      ['tools', 'messages[1]', chat({ role: 'tool', tool_call_id: 'c1' })],
      ['tools', 'tools', { ...chat(), tools: [{ name: 'look' }] }],
      ['images', 'messages[0].content[0]', user({ type: 'image_url', image_url: { url: 7 } })],
      ['images', 'messages[0].content[0]', user({ type: 'image_url', url: 'https://example.com' })],
      ['audio', 'messages[0].content[0]', user({ type: 'input_audio', input_audio: { data: '' } })],
      ['files', 'messages[0].content[0]', user({ type: 'file', file: 'file-1' })],
    ];
    for (const path of ['/v1/chat/completions', '/openai/v1/chat/completions']) {
      for (const [what, param, body] of CASES) {
        it(`names ${what} at ${path} before a fault of ${param}`, async () => {
          const answer = await post(path, { model: 'plain', ...body });
          const { code, param: told, message } = errorOf(answer);
          expect([answer.status, code, told]).to.deep.equal([400, 'unsupported_capability', param]);
          expect(message).to.equal(`${param}: this model does not take ${what}.`);
        });
      }
    }

    const block = (one: object) => ({
      max_tokens: 50,
      messages: [{ role: 'user', content: [one] }],
    });
    const part = (one: object) => ({ input: [{ role: 'user', content: [one] }] });
    const contents = (one: object) => ({ contents: [{ role: 'user', parts: [one] }] });
    const OTHERS: [string, string, object][] = [
      ['images', '/v1/messages', block({ type: 'image', source: { type: 'file', file_id: 'f' } })],
      ['images', '/v1/messages', block({ type: 'image', source: 'x' })],
      ['files', '/v1/messages', block({ type: 'document' })],
      ['tools', '/v1/messages', block({ type: 'tool_result', content: [] })],
      ['images', '/v1/responses', part({ type: 'input_image', file_id: 'f' })],
      ['audio', '/v1/responses', part({ type: 'input_audio', input_audio: {} })],
      ['files', '/v1/responses', part({ type: 'input_file', file_data: 7 })],
      ['tools', '/v1/responses', { input: [{ type: 'function_call', arguments: {} }] }],
      [
        'images',
        '/v1beta/models/plain:generateContent',
        contents({ inlineData: { mimeType: 'image/png' } }),
      ],
      [
        'audio',
        '/v1beta/models/plain:generateContent',
        contents({ inlineData: { mimeType: 'audio/wav' } }),
      ],
      [
        'files',
        '/v1beta/models/plain:generateContent',
        contents({ fileData: { mimeType: 'application/pdf' } }),
      ],
      [
        'tools',
        '/v1beta/models/plain:generateContent',
        contents({ functionResponse: { response: 'x' } }),
      ],
    ];
    for (const [what, path, body] of OTHERS) {
      it(`names ${what} at ${path} before ${JSON.stringify(body)}`, async () => {
        const { status, text } = await post(path, { model: 'plain', ...body });
        expect([status, text]).to.deep.equal([400, text]);
        expect(text).to.include(`this model does not take ${what}`);
      });
    }

    it('tells a fault as before where the model has the capability', async () => {
      const part = { type: 'image_url', image_url: { url: 7 } };
      const answer = await post('/v1/chat/completions', { model: 'openai', ...user(part) });
      expect(errorOf(answer).param).to.equal('messages[0].content[0].image_url.url');
    });

    it('tells a key that may not use the model nothing of it', async () => {
      const { store } = gateway.gateway;
      const { secret } = await store.createKey(gateway.account.id, 'k', { models: ['openai'] });
      const body = JSON.stringify({ model: 'plain', ...user({ type: 'file', file: 'f' }) });
      const headers = { 'content-type': 'application/json' };
      const at = { url: gateway.url, secret };
      const answer = await ask(at, '/v1/chat/completions', { method: 'POST', headers, body });
      expect(errorOf(answer).code).to.equal('invalid_request');
    });
  });
});
