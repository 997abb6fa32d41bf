import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import OpenAI from 'openai';
import { readShippedSchema } from '../../../../src/lib/schemas.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { ask, errorOf, type Answer } from '../../../helpers/ask.js';

const HELLO = { model: 'acme-chat', messages: [{ role: 'user' as const, content: 'Hello!' }] };
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

const ajv = new Ajv2020({ strict: false });
ajv.addSchema(readShippedSchema('chat-completion')).addSchema(readShippedSchema('openai-chat'));

function expectPart(part: 'answer' | 'chunk', value: unknown): void {
  const valid = ajv.compile({ $ref: `openai-chat#/$defs/${part}` });
  expect(valid(value), ajv.errorsText(valid.errors)).to.equal(true);
}

interface Chunk {
  choices: { delta: object }[];
  usage?: object | null;
}

function chunksOf({ text }: Answer): Chunk[] {
  expect(text).to.match(/data: \[DONE\]\n\n$/u);
  const events = text.split('\n\n').slice(0, -2);
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);
  for (const chunk of chunks) expectPart('chunk', chunk);
  return chunks;
}

describe('POST /openai/v1/chat/completions', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({
      models: `  acme-classes: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme, model: classes }], price: free }`,
    });
  });
  after(() => acme.close());

  const post = (body: object): Promise<Answer> =>
    ask(acme, '/openai/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it("answers in OpenAI's own words", async () => {
    const answer = JSON.parse((await post(HELLO)).text) as Record<string, unknown>;
    expectPart('answer', answer);
    expect(answer).to.deep.include({
      object: 'chat.completion',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Good day, 🌍!', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    });
  });

  const CLASSES = {
    prompt_tokens: 9,
    completion_tokens: 5,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2, audio_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 3, audio_tokens: 0 },
  };

  it('shows the classes of tokens that the upstream has named', async () => {
    const answer = JSON.parse((await post({ ...HELLO, model: 'acme-classes' })).text) as Chunk;
    expectPart('answer', answer);
    expect(answer.usage).to.deep.equal(CLASSES);
    const stream_options = { include_usage: true };
    const asked = { ...HELLO, model: 'acme-classes', stream: true, stream_options };
    expect(chunksOf(await post(asked)).at(-1)?.usage).to.deep.equal(CLASSES);
  });

  it('streams without usage, where that was not asked for', async () => {
    const chunks = chunksOf(await post({ ...HELLO, stream: true }));
    expect(chunks.some((chunk) => 'usage' in chunk)).to.equal(false);
    expect(chunks[0]?.choices[0]?.delta).to.deep.equal({
      role: 'assistant',
      content: '',
      refusal: null,
    });
  });

  it('streams usage in a last chunk without choices, where that was asked for', async () => {
    const stream_options = { include_usage: true };
    const chunks = chunksOf(await post({ ...HELLO, stream: true, stream_options }));
    const last = chunks.pop();
    expect([last?.choices, last?.usage]).to.deep.equal([[], USAGE]);
    expect(new Set(chunks.map(({ usage }) => usage))).to.deep.equal(new Set([null]));
  });

  it('charges a stream as the other endpoint does', async () => {
    const before = await balance();
    await post({ ...HELLO, stream: true });
    // 9 tokens at a dollar and 4 at two dollars a million.
    expect(before - (await balance())).to.equal(17_000n);
  });

  for (const [what, body, param] of [
    ['no messages', { messages: undefined }, 'messages'],
    ['an option that is no option', { stream_options: { include_usage: 1 } }, undefined],
  ] as const) {
    it(`refuses ${what}, naming the field`, async () => {
      const answer = await post({ ...HELLO, ...body });
      expect([answer.status, errorOf(answer).param]).to.deep.equal([
        400,
        param ?? 'stream_options.include_usage',
      ]);
    });
  }

  it('is understood by the openai package', async () => {
    const client = new OpenAI({ baseURL: `${acme.url}/openai/v1`, apiKey: acme.secret });
    const { object, choices } = await client.chat.completions.create(HELLO);
    expect([object, choices[0]?.message.refusal]).to.deep.equal(['chat.completion', null]);
    const runner = client.chat.completions.stream({
      ...HELLO,
      stream_options: { include_usage: true },
    });
    const { usage } = await runner.finalChatCompletion();
    expect(usage).to.deep.equal(USAGE);
  });

  async function balance(): Promise<bigint> {
    const account = await acme.gateway.store.account(acme.account.id);
    return account?.balance_nano ?? 0n;
  }
});
