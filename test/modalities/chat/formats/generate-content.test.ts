import { expect } from 'chai';
import { GoogleGenAI } from '@google/genai';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { ask, type Answer } from '../../../helpers/ask.js';

const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }] };
const WEATHER = { name: 'weather', parameters: { type: 'OBJECT', properties: {} } };

describe('POST /v1beta/models/{model}:generateContent', () => {
  let acme: OpenaiGateway;
  let client: GoogleGenAI;
  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  acme/thinker: { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: acme }], price: *paid, passthrough: [reasoning_effort, response_format] }`,
    });
    client = new GoogleGenAI({ apiKey: acme.secret, httpOptions: { baseUrl: acme.url } });
  });
  after(() => acme.close());

  const post = (model: string, body: object, method = 'generateContent'): Promise<Answer> =>
    ask(acme, `/v1beta/models/${model}:${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

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
    const [tool] = acme.sent()['tools'] as { function: { parameters: object } }[];
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
    const [system, , assistant, tool] = acme.sent()['messages'] as Record<string, unknown>[];
    expect(system).to.deep.equal({ role: 'system', content: 'Be brief.' });
    const calls = assistant?.['tool_calls'] as { id: string }[] | undefined;
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

  it('never ends a stream that was cut with a finish reason', async () => {
    const { text } = await post('acme-cut', HELLO, 'streamGenerateContent?alt=sse');
    expect(text).not.to.include('finishReason');
    expect(text).to.match(/data: \{"error":\{"code":502/u);
  });

  it("answers errors in Google's shape", async () => {
    const unknown = await post('nobody', HELLO);
    expect([unknown.status, JSON.parse(unknown.text)]).to.deep.equal([
      400,
      {
        error: {
          code: 400,
          message: 'There is no model "nobody" here: GET /v1/models lists those there are.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ]);
    const invalid = await post('acme-chat', { contents: [] });
    expect(JSON.parse(invalid.text)).to.have.nested.property('error.status', 'INVALID_ARGUMENT');
  });
});
