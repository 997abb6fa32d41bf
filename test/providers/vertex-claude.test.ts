import { expect } from 'chai';
import { chat } from '../../providers/vertex.js';
import type { ChatCall, ChatDelta } from '../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { EventReader } from '../../src/upstream/sse.js';
import { chat as ask, completionOf } from '../helpers/ask.js';
import { startGateway } from '../helpers/gateway.js';
import { inThreeWays } from '../helpers/packets.js';
import { startTokenServer } from '../helpers/token-server.js';
import { providerAt, startUpstream, upstreamAt } from '../helpers/upstream.js';

const MODEL = 'claude-sonnet-4-5@20250929';
const at = upstreamAt(providerAt('http://fake.invalid'), { model: MODEL });

const call = (stream: boolean): ChatCall => ({
  messages: [{ role: 'user', content: 'Hi' }],
  stream,
  n: 1,
  max_tokens: 9,
  fields: {},
});

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 8, output_tokens: 3 },
};

const EVENTS = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße 🌍' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
];
const STREAM = EVENTS.map(
  (event) => `event: ${event.type}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`,
).join('');

describe('Claude on Vertex AI', () => {
  it('is called by the path of its publisher, with the version in the body', () => {
    const { path, body } = chat.encode(call(false), at);
    expect(path).to.equal(`/publishers/anthropic/models/${MODEL}:rawPredict`);
    expect(body).to.deep.include({ anthropic_version: 'vertex-2023-10-16', max_tokens: 9 });
    expect(body).to.not.have.any.keys('model', 'stream');
  });

  it('is asked for a stream by another path alone', () => {
    const { path, body } = chat.encode(call(true), at);
    expect(path).to.equal(`/publishers/anthropic/models/${MODEL}:streamRawPredict`);
    expect(body).to.not.have.property('stream');
  });

  it('is asked to think by `reasoning` too, and what of it is left out is named so', () => {
    const asked = (fields: Record<string, unknown>) => {
      const whole = { ...call(false), max_tokens: 8_000, fields };
      const { body, ignored = [] } = chat.encode(whole, at);
      return [body.thinking, ...ignored];
    };
    const enabled = (budget_tokens: number): object => ({ type: 'enabled', budget_tokens });
    expect(asked({ reasoning: { max_tokens: 2_048 } })).to.deep.equal([enabled(2_048)]);
    expect(asked({ reasoning: { effort: 'low' } })).to.deep.equal([enabled(1_600)]);
    expect(asked({ reasoning: { enabled: true } })).to.deep.equal([enabled(4_000)]);
    expect(asked({ reasoning: { enabled: false } })).to.deep.equal([undefined]);
    expect(asked({ reasoning: { effort: 'high', exclude: true } })).to.deep.equal([
      enabled(6_400),
      'reasoning.exclude',
    ]);
    expect(asked({ reasoning: { effort: 'odd' } })).to.deep.equal([undefined, 'reasoning']);
    const both = { thinking: enabled(1_024), reasoning: { max_tokens: 2_048 } };
    expect(asked(both)).to.deep.equal([enabled(1_024), 'reasoning']);
    expect(asked({ reasoning: 'much' })).to.deep.equal([undefined, 'reasoning']);
  });

  it('is no way to another path', () => {
    const model = 'claude-x/../../secrets';
    expect(() => chat.encode(call(false), { ...at, model })).to.throw(UpstreamError);
  });

  for (const [way, packets] of inThreeWays(STREAM)) {
    it(`streams as the Messages API does, ${way}`, () => {
      const decoder = chat.decodeStream(call(true), at);
      const reader = new EventReader({ event_bytes: 100_000, stream_bytes: 100_000 });
      const deltas: ChatDelta[] = [];
      const isOver = packets.some((packet) => decoder.read(reader.read(packet), deltas));
      expect(isOver).to.equal(true);
      expect(deltas.map(({ content = '' }) => content).join('')).to.equal('Grüße 🌍');
      const { usage } = deltas.findLast((delta) => delta.usage !== undefined) ?? {};
      expect(usage).to.deep.include({ prompt_tokens: 8, completion_tokens: 3 });
    });
  }

  it("is reached with the token of the operator's service account", async () => {
    const tokens = await startTokenServer();
    const headers = { 'content-type': 'application/json' };
    const upstream = await startUpstream({ headers, body: JSON.stringify(MESSAGE) });
    const { client_email, private_key } = tokens.account;
    const account = { type: 'service_account', client_email, private_key, token_uri: tokens.url };
    const gateway = await startGateway(`owners: { a: { name: A } }
providers:
  vertex:
    service_account: ${JSON.stringify(JSON.stringify(account))}
    token_url: ${tokens.account.token_url}
    base_url: ${upstream.url}
models:
  claude:
    owner: a
    capabilities: [chat]
    upstreams: [{ provider: vertex, model: "${MODEL}" }]
    price: { input_per_million: 1, output_per_million: 2 }
`);
    try {
      const body = { model: 'claude', messages: call(false).messages, max_tokens: 9 };
      const { choices, usage } = completionOf(await ask(gateway, body));
      expect(choices[0]?.message.content).to.equal('Hello.');
      expect(usage).to.deep.include({ prompt_tokens: 8, completion_tokens: 3 });
      const [request] = upstream.requests;
      expect(request?.headers.authorization).to.equal('Bearer token-1');
      expect(decodeURIComponent(request?.path ?? '')).to.include(`/${MODEL}:rawPredict`);
    } finally {
      await gateway.close();
      await upstream.close();
      await tokens.close();
    }
  });
});
