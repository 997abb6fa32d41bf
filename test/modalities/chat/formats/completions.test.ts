import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { ask, errorOf, type Answer } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { expectShape } from '../../../helpers/schemas.js';

const HELLO = { model: 'acme-chat', prompt: 'Hello!' };
const TEXT = 'Good day, 🌍!';

describe('POST /v1/completions', () => {
  let acme: OpenaiGateway;
  let client: OpenAI;
  before(async () => {
    acme = await startOpenaiGateway();
    client = new OpenAI({ baseURL: `${acme.url}/v1`, apiKey: acme.secret, maxRetries: 0 });
  });
  after(() => acme.close());

  const post = (body: object): Promise<Answer> =>
    ask(acme, '/v1/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const balance = async (): Promise<bigint> =>
    (await acme.gateway.store.account(acme.account.id))?.balance_nano ?? 0n;

  it('answers the openai package, which has sent a prompt, with text', async () => {
    const answer = await client.completions.create(HELLO);
    expectShape('completions#/$defs/answer', answer);
    const { id, object, model, choices, usage } = answer;
    expect(id).to.match(/^cmpl-[^-]/u);
    expect([object, model]).to.deep.equal(['text_completion', 'acme-chat']);
    expect(choices).to.deep.equal([
      { text: TEXT, index: 0, logprobs: null, finish_reason: 'stop' },
    ]);
    expect(usage).to.include({ prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 });
    expect(acme.sent().messages).to.deep.equal([{ role: 'user', content: 'Hello!' }]);
  });

  it('streams to the openai package, with the usage that it asked for', async () => {
    const stream = await client.completions.create({
      ...HELLO,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.Completion[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    for (const chunk of chunks) expectShape('completions#/$defs/chunk', chunk);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    expect(choices.map(({ text }) => text).join('')).to.equal(TEXT);
    expect(choices.at(-1)?.finish_reason).to.equal('stop');
    expect(chunks.at(-1)?.usage?.total_tokens).to.equal(13);
  });

  it('answers the completion models of the AI SDK, whole and streamed', async () => {
    const settings = { name: 'tollgate', baseURL: `${acme.url}/v1`, apiKey: acme.secret };
    const model = createOpenAICompatible(settings).completionModel('acme-chat');
    const { text, usage } = await generateText({ model, prompt: 'Hello!' });
    expect([text, usage.totalTokens]).to.deep.equal([TEXT, 14]);
    const { textStream } = streamText({ model, prompt: 'Hello!' });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect(pieces.join('')).to.equal(TEXT);
  });

  it('says nothing of usage in a stream where nobody asked, and ends it with [DONE]', async () => {
    const { text } = await post({ ...HELLO, stream: true });
    expect(text).not.to.include('usage');
    expect(text.endsWith('data: [DONE]\n\n')).to.equal(true);
  });

  for (const stream of [false, true]) {
    it(`charges by usage, ${stream ? 'streamed' : 'whole'}, to the nano-dollar`, async () => {
      const before = await balance();
      await post({ ...HELLO, stream });
      const completion = stream ? 4n : 5n;
      expect(before - (await balance())).to.equal(9n * 1_000n + completion * 2_000n);
    });
  }

  it('never ends a stream that was cut with [DONE], and the openai package throws', async () => {
    const { text } = await post({ ...HELLO, model: 'acme-cut', stream: true });
    expect(text).to.match(/data: \{"error":\{/u);
    expect(text).not.to.match(/\[DONE\]|"stop"/u);
    const read = async (): Promise<void> => {
      const cut = { ...HELLO, model: 'acme-cut', stream: true } as const;
      for await (const _ of await client.completions.create(cut));
    };
    const error: unknown = await read().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(OpenAI.APIError);
  });

  it('charges nothing for a prompt that no upstream answered', async () => {
    const before = await balance();
    const { status } = await post({ ...HELLO, model: 'acme-broken' });
    expect([status, await balance()]).to.deep.equal([502, before]);
  });

  it('takes a list of one prompt, null for what is left out, and what changes nothing', async () => {
    const nothing = { suffix: null, max_tokens: null, echo: false, best_of: 1, logprobs: null };
    const { status, headers } = await post({ ...HELLO, prompt: ['Hi'], n: 1, ...nothing });
    expect([status, headers.get('tollgate-ignored')]).to.deep.equal([200, null]);
    expect(acme.sent().messages).to.deep.equal([{ role: 'user', content: 'Hi' }]);
  });

  it('sends sampling on, and names what it leaves out', async () => {
    const sampling = { temperature: 0, top_p: 0.5, stop: ['\nuser:'], max_tokens: 7, seed: 1 };
    const left = { best_of: 3, logprobs: 2, tools: [], messages: [] };
    const { headers } = await post({ ...HELLO, ...sampling, ...left });
    expect(acme.sent()).to.deep.include(sampling);
    expect(acme.sent()).not.to.have.any.keys('logprobs', 'tools', 'best_of');
    const named = headers.get('tollgate-ignored')?.split(', ') ?? [];
    expect(named).to.have.members(['messages', 'tools', 'best_of', 'logprobs']);
  });

  for (const [what, change, param] of [
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['several prompts', { prompt: ['a', 'b'] }, 'prompt'],
    ['tokens', { prompt: [1, 2] }, 'prompt'],
    ['a list of tokens', { prompt: [[1, 2]] }, 'prompt'],
    ['text to end with', { suffix: 'The end.' }, 'suffix'],
    ['its own prompt back', { echo: true }, 'echo'],
    ['half a token', { max_tokens: 0.5 }, 'max_tokens'],
    ['a model that is not there', { model: 'none' }, 'model'],
  ] as const) {
    it(`refuses a client that asks with ${what}, naming the field`, async () => {
      const answer = await post({ ...HELLO, ...change });
      expect([answer.status, errorOf(answer).param]).to.deep.equal([400, param]);
    });
  }
});
