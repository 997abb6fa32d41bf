import { expect } from 'chai';
import { chat } from '../../../providers/bedrock.js';
import type { ChatCall, ChatDelta } from '../../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { eventFrame, exceptionFrame, flipped, frame } from '../../helpers/aws-frames.js';
import { splitAt } from '../../helpers/packets.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const LIMITS = { event_bytes: 100_000, stream_bytes: 1_000_000 };
const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const NOVA = 'amazon.nova-lite-v1:0';
const CALL: ChatCall = {
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
  n: 1,
  max_tokens: 100,
  fields: {},
};

interface Outcome {
  deltas: ChatDelta[];
  error?: unknown;
}

function decodePackets(
  packets: readonly Uint8Array[],
  model = NOVA,
  call: ChatCall = CALL,
): Outcome {
  const upstream = upstreamAt(providerAt('http://fake.invalid'), { model });
  const frames = chat.openFrames?.(LIMITS);
  const decoder = chat.decodeStream(call, upstream);
  const deltas: ChatDelta[] = [];
  if (!frames) throw new Error('The codec opens no frames.');
  try {
    for (const packet of packets) decoder.read(frames.read(packet), deltas);
    decoder.read(frames.finish(), deltas);
    decoder.end(deltas);
    return { deltas };
  } catch (error) {
    return { deltas, error };
  }
}

const decode = (frames: readonly Buffer[], model?: string, call?: ChatCall): Outcome =>
  decodePackets([Buffer.concat(frames)], model, call);

const start = (block: number, toolUse: object): Buffer =>
  eventFrame('contentBlockStart', { contentBlockIndex: block, start: { toolUse } });
const delta = (block: number, said: object): Buffer =>
  eventFrame('contentBlockDelta', { contentBlockIndex: block, delta: said, p: 'abcdefgh' });
const stop = (block: number): Buffer =>
  eventFrame('contentBlockStop', { contentBlockIndex: block, p: 'abc' });
const HEAD = eventFrame('messageStart', { role: 'assistant', p: 'abcd' });
const end = (stopReason: string): Buffer => eventFrame('messageStop', { stopReason, p: 'a' });
const USAGE = { inputTokens: 9, outputTokens: 3, totalTokens: 12 };
const meta = (usage: object = USAGE): Buffer =>
  eventFrame('metadata', { usage, metrics: { latencyMs: 420 }, p: 'abcdefghijk' });

const TEXT = [HEAD, delta(0, { text: 'Grüß ' }), delta(0, { text: 'Gott 🌍' }), stop(0)];
const WHOLE = [...TEXT, end('end_turn'), meta()];

const textOf = ({ deltas }: Outcome): string => deltas.map(({ content = '' }) => content).join('');
const usageOf = ({ deltas }: Outcome): unknown => deltas.find(({ usage }) => usage)?.usage;
const finishOf = ({ deltas }: Outcome): unknown => deltas.at(-1)?.finish_reason;
const faultOf = ({ error }: Outcome): unknown => (error as UpstreamError | undefined)?.fault;

describe('a stream of Bedrock', () => {
  const bytes = Buffer.concat(WHOLE);
  const ways: [string, readonly Uint8Array[]][] = [
    ['in one write', [bytes]],
    ['byte by byte', [...bytes].map((byte) => Uint8Array.of(byte))],
    ['split in the midst of frames', splitAt(bytes, [5, 100, 101, 150, 280, bytes.length - 2])],
  ];
  for (const [name, packets] of ways) {
    it(`says its text, its end and its usage ${name}`, () => {
      const { deltas, error } = decodePackets(packets);
      expect(error).to.equal(undefined);
      expect(deltas).to.deep.equal([
        { index: 0, content: 'Grüß ' },
        { index: 0, content: 'Gott 🌍' },
        { usage: { prompt_tokens: 9, completion_tokens: 3 } },
        { index: 0, finish_reason: 'stop' },
      ]);
    });
  }

  it('says text that no contentBlockStart came before (quirk 28)', () => {
    expect(textOf(decode([delta(0, { text: 'Hi' }), end('end_turn'), meta()]))).to.equal('Hi');
  });

  it('takes usage that comes after messageStop, and usage that comes before it (quirk 28)', () => {
    const due = { prompt_tokens: 9, completion_tokens: 3 };
    expect(usageOf(decode(WHOLE))).to.deep.equal(due);
    const early = decode([...TEXT, meta(), end('end_turn')]);
    expect(usageOf(early)).to.deep.equal(due);
    expect(finishOf(early)).to.equal('stop');
  });

  it('takes padding for nothing, however long it is (quirk 28)', () => {
    const padded = TEXT.map((_, at) => delta(0, { text: 'x', p: 'p'.repeat(at) }));
    expect(textOf(decode([...padded, end('end_turn')]))).to.equal('xxxx');
  });

  it('counts what was read from the cache and written to it as prompt (quirk 6)', () => {
    const cached = { cacheReadInputTokens: 40, cacheReadInputTokenCount: 40 };
    const written = { cacheWriteInputTokens: 5, cacheWriteInputTokenCount: 5 };
    const usage = { ...USAGE, ...cached, ...written };
    expect(usageOf(decode([...TEXT, end('end_turn'), meta(usage)]))).to.deep.equal({
      prompt_tokens: 54,
      completion_tokens: 3,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 5 },
    });
  });

  it('is whole without its metadata, and then has no usage', () => {
    const outcome = decode([...TEXT, end('max_tokens')]);
    expect(outcome.error).to.equal(undefined);
    expect(usageOf(outcome)).to.equal(undefined);
    expect(finishOf(outcome)).to.equal('length');
  });

  it('is broken where it ends before messageStop, in order or not', () => {
    for (const frames of [TEXT, [...TEXT, meta()], [...TEXT, end('end_turn').subarray(0, 20)]]) {
      const outcome = decode(frames);
      expect(textOf(outcome)).to.equal('Grüß Gott 🌍');
      expect(faultOf(outcome)).to.equal('broken');
      expect(outcome.deltas.some(({ finish_reason }) => finish_reason)).to.equal(false);
    }
  });

  it('is broken at a frame whose checksum is wrong, and says what came before it', () => {
    const damaged = flipped(delta(0, { text: ', all' }), 60);
    const outcome = decode([...TEXT, damaged, end('end_turn'), meta()]);
    expect(textOf(outcome)).to.equal('Grüß Gott 🌍');
    expect(faultOf(outcome)).to.equal('broken');
  });

  for (const [name, fault] of [
    ['throttlingException', 'rate_limited'],
    ['serviceUnavailableException', 'overloaded'],
    ['internalServerException', 'broken'],
    ['modelStreamErrorException', 'broken'],
    ['somethingNewException', 'broken'],
    ['validationException', 'rejected'],
  ] as const) {
    it(`ends as ${fault} at a ${name}, first of all or after text`, () => {
      const exception = exceptionFrame(name, 'Of the service, in its words');
      expect(faultOf(decode([exception]))).to.equal(fault);
      const later = decode([...TEXT, exception]);
      expect(faultOf(later)).to.equal(fault);
      expect(textOf(later)).to.equal('Grüß Gott 🌍');
    });
  }

  it('says the words of a validationException, which the client can mend, and of no other', () => {
    const words = 'Of the service, in its words';
    expect(String(decode([exceptionFrame('validationException', words)]).error)).to.include(words);
    const other = decode([exceptionFrame('modelStreamErrorException', words)]);
    expect(String(other.error)).to.not.include(words);
  });

  it('ends as too long where the exception says so', () => {
    const words = 'Input is too long for requested model.';
    expect(faultOf(decode([exceptionFrame('validationException', words)]))).to.equal('context');
  });

  it('passes over events that it does not know, empty ones too', () => {
    const ping = frame({ ':message-type': 'event', ':event-type': 'ping' }, '');
    const odd = eventFrame('somethingNew', { load: [1] }, { raw: Buffer.from([0]), yes: true });
    const outcome = decode(WHOLE.flatMap((one) => [ping, odd, one]));
    expect(outcome).to.deep.equal(decode(WHOLE));
  });

  it('is broken at an event that is no JSON object', () => {
    const headers = { ':message-type': 'event', ':event-type': 'contentBlockDelta' };
    expect(faultOf(decode([frame(headers, '[]')]))).to.equal('broken');
    expect(faultOf(decode([frame(headers, '{')]))).to.equal('broken');
  });

  it('numbers calls of tools apart from blocks, and gives a call without input an object', () => {
    const { deltas } = decode([
      HEAD,
      delta(0, { text: 'Let me see.' }),
      stop(0),
      start(1, { toolUseId: 'tooluse_1', name: 'weather' }),
      delta(1, { toolUse: { input: '{"city":' } }),
      delta(1, { toolUse: { input: '"Rome"}' } }),
      stop(1),
      start(3, { toolUseId: 'tooluse_2', name: 'now' }),
      stop(3),
      end('tool_use'),
      meta(),
    ]);
    expect(deltas.flatMap(({ tool_calls }) => tool_calls ?? [])).to.deep.equal([
      {
        index: 0,
        id: 'tooluse_1',
        type: 'function',
        function: { name: 'weather', arguments: '' },
      },
      { index: 0, function: { arguments: '{"city":' } },
      { index: 0, function: { arguments: '"Rome"}' } },
      { index: 1, id: 'tooluse_2', type: 'function', function: { name: 'now', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(deltas.at(-1)).to.deep.equal({ index: 0, finish_reason: 'tool_calls' });
  });

  it('keeps what the service ran itself from the client', () => {
    const { deltas } = decode([
      start(0, { toolUseId: 's1', name: 'nova_grounding', type: 'server_tool_use' }),
      delta(0, { toolUse: { input: '{"q":1}' } }),
      stop(0),
      eventFrame('contentBlockStart', {
        contentBlockIndex: 1,
        start: { toolResult: { toolUseId: 's1', status: 'success' } },
      }),
      delta(1, { toolResult: [{ text: 'found' }] }),
      delta(2, { citation: { title: 'A page' } }),
      delta(2, { text: 'It rains.' }),
      end('end_turn'),
    ]);
    expect(deltas).to.deep.equal([
      { index: 0, content: 'It rains.' },
      { index: 0, finish_reason: 'stop' },
    ]);
  });

  it('says reasoning as it comes, and its signed whole once the signature is there', () => {
    const { deltas } = decode(
      [
        delta(0, { reasoningContent: { text: 'First, ' } }),
        delta(0, { reasoningContent: { text: 'rain.' } }),
        delta(0, { reasoningContent: { signature: 'c2ln' } }),
        stop(0),
        delta(1, { reasoningContent: { redactedContent: 'aGlkZGVu' } }),
        stop(1),
        delta(2, { text: 'Wet.' }),
        end('end_turn'),
      ],
      CLAUDE,
    );
    const format = 'anthropic-claude-v1';
    const text = { type: 'reasoning.text', text: 'First, rain.', signature: 'c2ln', format };
    expect(deltas).to.deep.equal([
      { index: 0, reasoning_content: 'First, ' },
      { index: 0, reasoning_content: 'rain.' },
      { index: 0, reasoning_details: [{ ...text, index: 0 }] },
      {
        index: 0,
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'aGlkZGVu', format, index: 1 }],
      },
      { index: 0, content: 'Wet.' },
      { index: 0, finish_reason: 'stop' },
    ]);
  });

  it('says an answer in the form of a schema as text, where the model gives it by a tool', () => {
    const schema = { type: 'object', properties: { wet: { type: 'boolean' } } };
    const response_format = { type: 'json_schema', json_schema: { name: 'weather', schema } };
    const call = { ...CALL, fields: { response_format } };
    const { deltas } = decode(
      [
        start(0, { toolUseId: 't', name: 'weather' }),
        delta(0, { toolUse: { input: '{"wet":' } }),
        delta(0, { toolUse: { input: 'true}' } }),
        stop(0),
        end('tool_use'),
      ],
      NOVA,
      call,
    );
    expect(deltas.map(({ content = '' }) => content).join('')).to.equal('{"wet":true}');
    expect(deltas.some(({ tool_calls }) => tool_calls)).to.equal(false);
  });

  for (const [reason, word] of [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['malformed_model_output', 'stop'],
  ] as const) {
    it(`ends with ${word} where the service says ${reason}`, () => {
      expect(finishOf(decode([...TEXT, end(reason), meta()]))).to.equal(word);
    });
  }

  it('is broken where the model wrote nothing that the service could read', () => {
    expect(faultOf(decode([HEAD, end('malformed_tool_use'), meta()]))).to.equal('broken');
  });

  it('may be empty', () => {
    expect(decode([HEAD, end('end_turn'), meta()]).error).to.equal(undefined);
  });
});
