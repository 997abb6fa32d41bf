import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { image } from '../../../providers/openai-image.js';
import { chat as wire_codec } from '../../../providers/openai.js';
import type { Upstream } from '../../../src/core/model.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { ChatCall, ChatDelta, ChatReply } from '../../../src/modalities/chat/codec.js';
import { NamedCallDecoder } from '../../../src/modalities/chat/tool-call-order.js';
import { finishReason } from '../../../src/modalities/chat/formats/openai-answer.js';
import { classifyError } from '../../../src/upstream/classify-error.js';
import { createNetwork } from '../../../src/upstream/network.js';
import { readJson } from '../../../src/upstream/upstream-request.js';
import { EventReader } from '../../../src/upstream/sse.js';
import { providerAt, startUpstream, upstreamAt } from '../../helpers/upstream.js';
import { preparedCodec } from '../../../src/modalities/chat/prepared-codec.js';
import { PLAIN_CALL } from '../../modalities/image/helpers/plain-call.js';

const chat = preparedCodec(wire_codec);

const CALL: ChatCall = { messages: [], stream: true, n: 1, max_tokens: 9, fields: {} };
const LIMITS = {
  event_bytes: 100_000,
  stream_bytes: 1_000_000,
  stream_events: 1_000,
  answer_calls: 10,
  answer_parts: 10,
};
const DONE = 'data: [DONE]\n\n';

interface Manifest {
  wire?: Record<string, unknown>;
  rename?: Record<string, string>;
  drop?: string[];
}

/** An upstream with the habits that the manifest of this name states. */
function at(name: string, model = 'fake-1'): Upstream {
  const url = new URL(`../../../providers/${name}.yaml`, import.meta.url);
  const { wire = {}, rename = {}, drop = [] } = parse(readFileSync(url, 'utf8')) as Manifest;
  return upstreamAt(providerAt('http://fake.invalid', { wire }), { model, rename, drop });
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const said = (delta: object, more: object = {}): string =>
  event({ choices: [{ index: 0, delta, ...more }] });

/** The deltas of a stream, and the fault that it ends with. */
function read(name: string, ...events: string[]): { deltas: ChatDelta[]; fault?: string } {
  const decoder = new NamedCallDecoder(chat.decodeStream(CALL, at(name)), CALL, LIMITS);
  const deltas: ChatDelta[] = [];
  const reader = new EventReader(LIMITS);
  try {
    const over = decoder.read(reader.read(Buffer.from(events.join(''))), deltas);
    if (!over) decoder.end(deltas);
    return { deltas };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { deltas, fault: error.fault };
  }
}

const whole = (name: string, body: unknown): ChatReply => chat.decode(body, CALL, at(name));
const textOf = (deltas: readonly ChatDelta[]): string =>
  deltas.map(({ content }) => content ?? '').join('');
const usageOf = (deltas: readonly ChatDelta[]): unknown =>
  deltas.findLast(({ usage }) => usage)?.usage;

describe('quirks of the compatible wires', () => {
  it('`choices` is empty in the first chunk of Azure, and in the chunks of usage and moderation', () => {
    const { deltas, fault } = read(
      'azure',
      event({ choices: [], id: '', model: '', prompt_filter_results: [{ prompt_index: 0 }] }),
      said({ role: 'assistant', content: 'Hi' }),
      said({}, { finish_reason: 'stop' }),
      event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } }),
      event({ choices: [], moderation: {} }),
      DONE,
    );
    expect([textOf(deltas), fault]).to.deep.equal(['Hi', undefined]);
    expect(usageOf(deltas)).to.deep.include({ prompt_tokens: 3, completion_tokens: 1 });
  });

  it('a choice of Azure that was filtered has no `message`, and is an empty answer', () => {
    const filtered = { index: 0, finish_reason: 'content_filter', content_filter_results: {} };
    expect(whole('azure', { choices: [filtered] }).choices).to.deep.equal([
      { index: 0, content: '', finish_reason: 'content_filter' },
    ]);
    const { deltas } = read('azure', event({ choices: [filtered] }), DONE);
    expect(deltas).to.deep.equal([{ index: 0, finish_reason: 'content_filter' }]);
  });

  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const places: [string, string, string[]][] = [
    [
      'the last chunk',
      'openai',
      [said({}, { finish_reason: 'stop' }), event({ choices: [], usage })],
    ],
    [
      'the finish chunk',
      'mistral',
      [event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })],
    ],
    [
      'x_groq',
      'groq',
      [event({ choices: [{ delta: {}, finish_reason: 'stop' }], x_groq: { usage } })],
    ],
    [
      'every chunk, of which the last counts',
      'vllm',
      [
        event({
          choices: [{ delta: { content: 'b' } }],
          usage: { ...usage, completion_tokens: 1 },
        }),
        event({ choices: [{ delta: {}, finish_reason: 'stop' }], usage }),
      ],
    ],
  ];
  for (const [place, name, events] of places) {
    it(`usage stands in ${place}`, () => {
      const { deltas } = read(name, said({ content: 'a' }), ...events, DONE);
      expect(usageOf(deltas)).to.deep.include(usage);
    });
  }

  it("xAI's completion tokens leave out reasoning, which is billed", () => {
    const { usage: read } = whole('xai', {
      choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 291, completion_tokens: 26, total_tokens: 513 },
    });
    expect(read).to.deep.include({ prompt_tokens: 291, completion_tokens: 222 });
  });

  it('Groq ends a stream with `event: error`, and no [DONE] after it', () => {
    const { deltas, fault } = read(
      'groq',
      said({ content: 'Hi' }),
      `event: error\n${event({ error: { message: 'Failed.', status_code: 400 } })}`,
    );
    expect([textOf(deltas), fault]).to.deep.equal(['Hi', 'rejected']);
  });

  it('OpenRouter tells an error in a chunk after it has said how the answer ended', () => {
    const { deltas, fault } = read(
      'openrouter',
      said({ content: 'Hi' }),
      said({}, { finish_reason: 'length' }),
      event({ choices: [{ index: 0, delta: {} }], error: { code: 502, message: 'Lost.' } }),
    );
    expect([textOf(deltas), fault]).to.deep.equal(['Hi', 'broken']);
  });

  it('comments of OpenRouter stand between chunks', () => {
    const comment = ': OPENROUTER PROCESSING\n\n';
    const events = [comment, said({ content: 'Hi' }), comment, said({}, { finish_reason: 'stop' })];
    const { deltas, fault } = read('openrouter', ...events, comment, DONE);
    expect([textOf(deltas), fault]).to.deep.equal(['Hi', undefined]);
  });

  it('blank lines of DeepSeek stand before a JSON body', async () => {
    const body = { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] };
    const fake = await startUpstream({ chunks: ['\n', '\n\n', JSON.stringify(body)] });
    const network = createNetwork({ connections: 1, idle_ms: 1_000 });
    const request = { method: 'POST' as const, path: '/', headers: {}, body: '{}' };
    const answer = await network.send(providerAt(fake.url), request, new AbortController().signal);
    const [choice] = whole('deepseek', await readJson(answer, 100_000)).choices;
    expect(choice?.content).to.equal('Hi');
    await Promise.all([network.close(), fake.close()]);
  });

  const errors: [string, number, unknown, string][] = [
    [
      'a wrong key is a 400 at Gemini, and no fault of the client',
      400,
      [
        {
          error: {
            code: 400,
            status: 'INVALID_ARGUMENT',
            details: [{ reason: 'API_KEY_INVALID' }],
          },
        },
      ],
      'credentials',
    ],
    [
      'a 403 of fal can mean an empty balance',
      403,
      { detail: 'User is locked. Reason: Exhausted balance.' },
      'quota',
    ],
    [
      'errors of Gemini by the wire of OpenAI are a list',
      400,
      [{ error: { code: 400, message: 'The input token count (9) exceeds the maximum.' } }],
      'context',
    ],
    [
      'a 429 for insufficient_quota never recovers',
      429,
      { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Pay.' } },
      'quota',
    ],
    [
      'the code of an error may be a number',
      200,
      { error: { message: 'Slow down.', code: 429 } },
      'rate_limited',
    ],
  ];
  for (const [title, status, body, fault] of errors) {
    it(title, () => {
      if (status === 200)
        expect(() => whole('openrouter', body))
          .to.throw()
          .with.property('fault', fault);
      else expect(classifyError(status, {}, JSON.stringify(body)).fault).to.equal(fault);
    });
  }

  it('Gemini by the wire of OpenAI sends tool calls without an index, and ends with `stop`', () => {
    const call = (id: string) => ({ id, function: { name: id, arguments: '{}' } });
    const { deltas } = read(
      'google-compatible',
      said({ tool_calls: [call('a')] }),
      said({ tool_calls: [call('b')] }, { finish_reason: 'stop' }),
      DONE,
    );
    const indexes = deltas.flatMap(({ tool_calls = [] }) => tool_calls.map(({ index }) => index));
    expect(indexes).to.deep.equal([0, 1]);
    expect(finishReason('stop', true)).to.equal('tool_calls');
  });

  it('thinking at Gemini by the wire of OpenAI is in the total alone', () => {
    const { usage: read } = whole('google-compatible', {
      choices: [{ index: 0, message: { content: 'Noon.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 },
    });
    expect(read).to.deep.include({ prompt_tokens: 66, completion_tokens: 34 });
  });

  it('GPT image models are never sent `response_format`, and answer base64', () => {
    const to = at('openai', 'gpt-image-1');
    expect(image.encode(PLAIN_CALL, to).body).to.not.have.property('response_format');
    const { images } = image.decode({ data: [{ b64_json: 'QUJD' }] }, PLAIN_CALL, to);
    expect(images).to.deep.equal([{ b64_json: 'QUJD' }]);
  });

  it("Google's retryDelay in the body becomes Retry-After", () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }];
    const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details } };
    const error = classifyError(429, {}, JSON.stringify(body));
    expect([error.fault, error.retry_after]).to.deep.equal(['rate_limited', '35']);
  });

  it('tool calls without an index or an id are told apart, and get both', () => {
    const call = (name: string) => ({ function: { name, arguments: '{}' } });
    const { deltas } = read(
      'ollama',
      said({ tool_calls: [call('a')] }),
      said({ tool_calls: [call('b')] }, { finish_reason: 'tool_calls' }),
      DONE,
    );
    const calls = deltas.flatMap(({ tool_calls = [] }) => tool_calls);
    expect(calls.map(({ index }) => index)).to.deep.equal([0, 1]);
    for (const { id } of calls) expect(id).to.match(/^call_[0-9a-f]{24}$/u);
  });

  it('Mistral takes tool call ids of nine characters alone', () => {
    const tool = {
      id: 'toolu_01',
      type: 'function' as const,
      function: { name: 'a', arguments: '{}' },
    };
    const messages: ChatCall['messages'] = [
      { role: 'assistant', content: null, tool_calls: [tool] },
      { role: 'tool', content: '1', tool_call_id: 'toolu_01' },
    ];
    const { body } = chat.encode({ ...CALL, messages }, at('mistral'));
    const [asked, answered] = body.messages as ChatCall['messages'];
    expect(asked?.tool_calls?.[0]?.id).to.match(/^[a-zA-Z0-9]{9}$/u);
    expect(answered?.tool_call_id).to.equal(asked?.tool_calls?.[0]?.id);
  });

  it('content may be a list of parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { text: 'a' },
    ];
    const [choice] = whole('mistral', { choices: [{ index: 0, message: { content } }] }).choices;
    expect(choice).to.include({ content: 'a', reasoning_content: 'Hm.' });
  });

  it('Ollama reads max_tokens alone, and reasoning models of OpenAI max_completion_tokens alone', () => {
    expect(chat.encode(CALL, at('ollama', 'gpt-oss')).body).to.have.property('max_tokens', 9);
    const { body } = chat.encode(CALL, at('openai', 'gpt-5-mini'));
    expect(body).to.include({ max_completion_tokens: 9 }).and.not.have.property('max_tokens');
  });

  it('OpenRouter sends two finish chunks, and one of them is told', () => {
    const { deltas } = read(
      'openrouter',
      said({ content: 'Hi' }),
      said({ content: '' }, { finish_reason: 'stop' }),
      event({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }], usage }),
      DONE,
    );
    expect(deltas.filter(({ finish_reason }) => finish_reason)).to.have.length(1);
    expect(usageOf(deltas)).to.deep.include(usage);
  });
});
