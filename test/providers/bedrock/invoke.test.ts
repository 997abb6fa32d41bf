import { expect } from 'chai';
import { chat } from '../../../providers/bedrock.js';
import type { ChatCall, ChatDelta } from '../../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { eventFrame, exceptionFrame, flipped } from '../../helpers/aws-frames.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const LIMITS = { event_bytes: 100_000, stream_bytes: 1_000_000 };
const CALL: ChatCall = {
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
  n: 1,
  max_tokens: 100,
  fields: {},
};

const upstream = (model: string) =>
  upstreamAt(providerAt('http://fake.invalid', { wire: { invoke_claude: true } }), { model });

const chunk = (event: object): Buffer =>
  eventFrame('chunk', {
    bytes: Buffer.from(JSON.stringify(event)).toString('base64'),
    p: 'abcdef',
  });
const START = chunk({
  type: 'message_start',
  message: { id: 'm', content: [], usage: { input_tokens: 9, output_tokens: 1 } },
});
const text = (said: string): Buffer =>
  chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } });
const TEXT = [
  START,
  chunk({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  text('Grüß '),
  text('Gott'),
];
const END = [
  chunk({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 3 },
  }),
  chunk({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 9 } }),
];

function decode(frames: readonly Buffer[]): { deltas: ChatDelta[]; error?: unknown } {
  const reader = chat.openFrames?.(LIMITS);
  const decoder = chat.decodeStream(CALL, upstream(CLAUDE));
  const deltas: ChatDelta[] = [];
  if (!reader) throw new Error('The codec opens no frames.');
  try {
    const isOver = decoder.read(reader.read(Buffer.concat(frames)), deltas);
    if (!isOver && !decoder.read(reader.finish(), deltas)) decoder.end(deltas);
    return { deltas };
  } catch (error) {
    return { deltas, error };
  }
}

const textOf = (deltas: readonly ChatDelta[]): string =>
  deltas.map(({ content = '' }) => content).join('');

describe('Claude by InvokeModel, where the manifest says so', () => {
  it("is asked with the Messages API's body, the model in the path", () => {
    const { path, body } = chat.encode({ ...CALL, stream: false }, upstream(CLAUDE));
    expect(path).to.equal('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke');
    expect(body).to.deep.equal({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
    expect(chat.encode(CALL, upstream(CLAUDE)).path).to.match(/\/invoke-with-response-stream$/u);
  });

  it('leaves all other models to Converse', () => {
    expect(chat.encode(CALL, upstream('amazon.nova-lite-v1:0')).path).to.match(/converse-stream$/u);
    const plain = upstreamAt(providerAt('http://fake.invalid'), { model: CLAUDE });
    expect(chat.encode(CALL, plain).path).to.match(/converse-stream$/u);
  });

  it('says a whole answer', () => {
    const body = {
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 3 },
    };
    const { choices } = chat.decode(body, CALL, upstream(CLAUDE));
    expect(choices[0]).to.deep.include({ content: 'Hi', finish_reason: 'end_turn' });
  });

  it('says a stream whose frames hold its events', () => {
    const { deltas, error } = decode([...TEXT, eventFrame('somethingNew', {}), ...END]);
    expect(error).to.equal(undefined);
    expect(textOf(deltas)).to.equal('Grüß Gott');
    expect(deltas.findLast(({ usage }) => usage)?.usage).to.deep.include({
      prompt_tokens: 9,
      completion_tokens: 3,
    });
  });

  const broken: [string, Buffer][] = [
    ['an exception', exceptionFrame('throttlingException', 'slow down')],
    ['a wrong checksum', flipped(text('!'), 70)],
    ['a chunk without bytes', eventFrame('chunk', { p: 'abc' })],
    ['a frame that breaks off', text('!').subarray(0, 20)],
    ['its end before message_stop', Buffer.alloc(0)],
  ];
  for (const [what, frame] of broken) {
    it(`fails at ${what}, and says what came before it`, () => {
      const { deltas, error } = decode([...TEXT, frame]);
      expect(textOf(deltas)).to.equal('Grüß Gott');
      expect(error).to.be.instanceOf(UpstreamError);
    });
  }
});
