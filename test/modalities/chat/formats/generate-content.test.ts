import { expect } from 'chai';
import { GoogleGenAI } from '@google/genai';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { ask, type Answer } from '../../../helpers/ask.js';

const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }] };
const JSON_BODY = { 'content-type': 'application/json' };
const METHODS = ['generateContent', 'streamGenerateContent?alt=sse', 'countTokens'];
const WEATHER = { name: 'weather', parameters: { type: 'OBJECT', properties: {} } };

describe('POST /v1beta/models/{model}:generateContent', () => {
  let acme: OpenaiGateway;
  let client: GoogleGenAI;
  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  acme/thinker: { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: acme }], price: *paid, passthrough: [reasoning_effort, response_format] }
  a/b/c: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], price: *paid }`,
    });
    client = new GoogleGenAI({ apiKey: acme.secret, httpOptions: { baseUrl: acme.url } });
  });
  after(() => acme.close());

  const postTo = (path: string, body: object): Promise<Answer> =>
    ask(acme, path, { method: 'POST', headers: JSON_BODY, body: JSON.stringify(body) });
  const post = (model: string, body: object, method = 'generateContent'): Promise<Answer> =>
    postTo(`/v1beta/models/${model}:${method}`, body);

  it("answers Google's own client with its text and its usage", async () => {
    const answer = await client.models.generateContent({ model: 'acme-chat', contents: 'Hello!' });
    expect(answer.text).to.equal('Good day, 🌍!');
    expect(answer.candidates?.[0]?.finishReason).to.equal('STOP');
    expect(answer.usageMetadata).to.deep.equal({
      promptTokenCount: 9,
      candidatesTokenCount: 5,
      totalTokenCount: 14,
    });
  });

  it('charges generated content by its usage', async () => {
    const { account, gateway } = acme;
    const before = (await gateway.store.account(account.id))?.balance_nano ?? 0n;
    await post('acme-chat', HELLO);
    const after = (await gateway.store.account(account.id))?.balance_nano ?? 0n;
    expect(before - after).to.equal(9n * 1_000n + 5n * 2_000n);
  });

  it('reads no word of chat completions, so that n: -5 makes no answer free', async () => {
    const body = { ...HELLO, n: -5, generationConfig: { n: 0.001, max_completion_tokens: -1 } };
    const answer = await post('acme-chat', body);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get('tollgate-ignored')).to.equal(
      'n, generationConfig.n, generationConfig.max_completion_tokens',
    );
    expect(answer.text).to.include('Good day');
  });

  it("streams to Google's own client", async () => {
    const request = { model: 'acme-chat', contents: 'Hello!' };
    const texts: (string | undefined)[] = [];
    let finish: unknown;
    for await (const chunk of await client.models.generateContentStream(request)) {
      texts.push(chunk.text);
      finish = chunk.candidates?.[0]?.finishReason ?? finish;
    }
    expect(texts.join('')).to.equal('Good day, 🌍!');
    expect(finish).to.equal('STOP');
  });

  it('gives function calls whole, in an answer and in a stream', async () => {
    const body = { ...HELLO, tools: [{ functionDeclarations: [WEATHER] }] };
    const call = { id: 'call_1', name: 'weather', args: { city: 'Oslo' } };
    const whole = await post('acme-all', body);
    expect(whole.text).to.include(JSON.stringify({ functionCall: call }));
    const [tool] = acme.sent().tools as { function: { parameters: object } }[];
    expect(tool?.function.parameters).to.deep.equal({ type: 'object', properties: {} });
    const stream = await post('acme-all', body, 'streamGenerateContent?alt=sse');
    expect(stream.text).to.include(JSON.stringify({ functionCall: call }));
  });

  it('matches results with the calls that they answer, by name where no ID is given', async () => {
    const contents = [
      { role: 'user', parts: [{ text: 'How is Oslo?' }] },
      { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'weather', response: { sky: 'grey' } } }],
      },
    ];
    await post('acme-all', { contents, systemInstruction: { parts: [{ text: 'Be brief.' }] } });
    const [system, , assistant, tool] = acme.sent().messages as Record<string, unknown>[];
    expect(system).to.deep.equal({ role: 'system', content: 'Be brief.' });
    const calls = assistant?.tool_calls as { id: string }[] | undefined;
    expect(tool).to.deep.equal({
      role: 'tool',
      content: '{"sky":"grey"}',
      tool_call_id: calls?.[0]?.id,
    });
  });

  it('says budgets of thinking and schemas in the words of chat completions', async () => {
    const generationConfig = {
      maxOutputTokens: 50,
      topP: 0.5,
      stopSequences: ['END'],
      thinkingConfig: { thinkingBudget: 4_096 },
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT' },
    };
    await post('acme/thinker', { ...HELLO, generationConfig });
    expect(acme.sent()).to.deep.include({
      max_tokens: 50,
      top_p: 0.5,
      stop: ['END'],
      reasoning_effort: 'medium',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' } },
      },
    });
  });

  it("keeps a streamed answer in the history of Google's own client", async () => {
    const chat = client.chats.create({ model: 'acme-chat' });
    for await (const _ of await chat.sendMessageStream({ message: 'Hello!' }));
    const [, ...said] = chat.getHistory(true);
    const texts = said.flatMap(({ parts = [] }) => parts.map(({ text }) => text));
    expect(texts.join('')).to.equal('Good day, 🌍!');
    await chat.sendMessage({ message: 'And then?' });
    expect(acme.sent().messages).to.deep.equal([
      { role: 'user', content: 'Hello!' },
      { role: 'assistant', content: 'Good day, 🌍!' },
      { role: 'user', content: 'And then?' },
    ]);
  });

  it('streams a list in JSON to a client that does not ask for events', async () => {
    const { text, headers } = await post('acme-chat', HELLO, 'streamGenerateContent');
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    const answers = JSON.parse(text) as { candidates: { finishReason?: string }[] }[];
    const ends = answers.map(({ candidates }) => candidates[0]?.finishReason);
    expect(ends).to.deep.equal([undefined, undefined, undefined, undefined, 'STOP']);
  });

  it('answers under both versions of the API, also for models whose IDs have slashes', async () => {
    for (const version of ['v1', 'v1beta'])
      for (const model of ['acme-chat', 'acme/thinker', 'acme%2Fthinker', 'a/b/c'])
        for (const method of METHODS) {
          const path = `/${version}/models/${model}:${method}`;
          const { status, text } = await postTo(path, HELLO);
          expect(status, path + text).to.equal(200);
        }
    const v1 = { apiVersion: 'v1', baseUrl: acme.url };
    const stable = new GoogleGenAI({ apiKey: acme.secret, httpOptions: v1 });
    for (const models of [client.models, stable.models]) {
      const { text } = await models.generateContent({ model: 'a/b/c', contents: 'Hello!' });
      expect(text).to.equal('Good day, 🌍!');
    }
  });

  it("takes the key from Google's header, from the query and from Authorization", async () => {
    const path = '/v1beta/models/acme-chat:generateContent';
    const keys: [string, Record<string, string>][] = [
      ['', { 'x-goog-api-key': acme.secret }],
      [`?key=${acme.secret}`, {}],
      [`?key=${acme.secret}`, { authorization: 'Basic nonsense' }],
      ['?key=', { authorization: `Bearer ${acme.secret}` }],
      [`?key=${acme.secret}x`, {}],
      ['', {}],
    ];
    const statuses = keys.map(async ([query, own]) => {
      const init = { method: 'POST', headers: { ...JSON_BODY, ...own } };
      const url = `${acme.url}${path}${query}`;
      return (await fetch(url, { ...init, body: JSON.stringify(HELLO) })).status;
    });
    expect(await Promise.all(statuses)).to.deep.equal([200, 200, 200, 200, 401, 401]);
  });

  it('counts the tokens of a prompt for nothing', async () => {
    const before = await acme.gateway.store.account(acme.account.id);
    const asked = acme.upstream.requests.length;
    const counted = await client.models.countTokens({ model: 'acme-chat', contents: 'Hello!' });
    expect(counted.totalTokens).to.be.within(2, 20);
    for (const name of ['generateContentRequest', 'generate_content_request']) {
      const body = { [name]: { model: 'models/acme-chat', ...HELLO } };
      const { text } = await post('acme-chat', body, 'countTokens');
      expect(JSON.parse(text)).to.deep.equal({ totalTokens: counted.totalTokens });
    }
    expect((await post('acme-chat', {}, 'countTokens')).status).to.equal(400);
    expect(acme.upstream.requests.length).to.equal(asked);
    const after = await acme.gateway.store.account(acme.account.id);
    expect(after?.balance_nano).to.equal(before?.balance_nano);
  });

  it("answers errors in Google's shape", async () => {
    const unknown = await post('nobody', HELLO);
    expect([unknown.status, JSON.parse(unknown.text)]).to.deep.equal([
      400,
      {
        error: {
          code: 400,
          message: 'There is no model "nobody"; GET /v1/models lists the available models.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ]);
    const invalid = await post('acme-chat', { contents: [] });
    expect(JSON.parse(invalid.text)).to.have.nested.property('error.status', 'INVALID_ARGUMENT');
  });
});
