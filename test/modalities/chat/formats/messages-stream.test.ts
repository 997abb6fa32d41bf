import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { claudeCodec } from '../../../../providers/anthropic/codec.js';
import { UpstreamError } from '../../../../src/core/upstream-error.js';
import type { ChatCall, ChatDelta } from '../../../../src/modalities/chat/codec.js';
import { messages } from '../../../../src/modalities/chat/formats/messages.js';
import { visibleReply } from '../../../../src/modalities/chat/planned-chat.js';
import { toClientError } from '../../../../src/upstream/to-client-error.js';
import { EventReader } from '../../../../src/upstream/sse.js';
import { claudeAt } from '../../../helpers/claude.js';

const HEAD = { id: 'chatcmpl-1', created: 1, model: 'claude' };
const VISIBLE = { choices: 1, tools: true, reasoning: true, logprobs: false };
const CALL: ChatCall = { messages: [], stream: true, n: 1, max_tokens: 99, fields: {} };
const LIMITS = { event_bytes: 1_000_000, stream_bytes: 1_000_000, answer_bytes: 1_000_000 };
const USAGE = { prompt_tokens: 12, completion_tokens: 7, cached_tokens: 3 };
const BILL = { usage: USAGE, cost_nano: 1n, estimated: false };
const CODEC = claudeCodec({ pathOf: () => '', envelope: 'anthropic' });
const SIZE = { text_bytes: 5, messages: 1, images: 0 };
const WORK = { call: CALL, size: SIZE, ignored: [] } as unknown as Parameters<
  typeof messages.stream
>[2];

const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** An answer with every kind of block, as Claude streams it. */
const UPSTREAM = Buffer.from(
  [
    event('message_start', { message: { id: 'msg_1', content: [], usage: { input_tokens: 12 } } }),
    ...blockEvents(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: 'Hm 🌍.' },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ]),
    ...blockEvents(1, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'I look.' }]),
    ...blockEvents(2, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }, [
      { type: 'input_json_delta', partial_json: '{"at":' },
      { type: 'input_json_delta', partial_json: '"it"}' },
    ]),
    event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } }),
    event('message_stop', {}),
  ].join(''),
);

function blockEvents(index: number, content_block: object, deltas: readonly object[]): string[] {
  return [
    event('content_block_start', { index, content_block }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
}

/** What a client gets of an upstream that has sent these bytes and no more. */
function written(bytes: Uint8Array): string {
  const decoder = CODEC.decodeStream(CALL, claudeAt());
  const frames = new EventReader(LIMITS);
  const writer = messages.stream(HEAD, VISIBLE, WORK);
  const deltas: ChatDelta[] = [];
  try {
    if (!decoder.read(frames.read(bytes), deltas)) {
      if (!decoder.read(frames.finish(), deltas)) decoder.end(deltas);
    }
    return writer.frame(deltas) + writer.end(BILL);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return writer.frame(deltas) + writer.error(toClientError(error));
  }
}

function typesIn(stream: string): string[] {
  return [...stream.matchAll(/^event: (\w+)$/gmu)].map(([, type = '']) => type);
}

/** The message that Anthropic's own client makes of a stream; rejects where it is not whole. */
function readBySdk(stream: string | Uint8Array<ArrayBuffer>): Promise<Anthropic.Message> {
  const fetch = (): Promise<Response> =>
    Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
  const client = new Anthropic({ apiKey: 'tg-key', maxRetries: 0, fetch });
  const body = { model: 'claude', max_tokens: 9, messages: [] };
  return client.messages.stream(body).finalMessage();
}

describe('a streamed message', () => {
  const whole = written(UPSTREAM);

  it('is read by the real client: thoughts with their signature, text, calls and usage', async () => {
    const message = await readBySdk(whole);
    expect(message.content).to.deep.equal([
      { type: 'thinking', thinking: 'Hm 🌍.', signature: 'c2lnbmVk' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
    ]);
    expect(message.stop_reason).to.equal('tool_use');
    expect(message.usage).to.include({
      input_tokens: 9,
      cache_read_input_tokens: 3,
      output_tokens: 7,
    });
  });

  it('has each event under its name, blocks in order, and usage at both ends', () => {
    const block = (deltas: number): string[] => [
      'content_block_start',
      ...Array.from({ length: deltas }, () => 'content_block_delta'),
      'content_block_stop',
    ];
    const ends = ['message_delta', 'message_stop'];
    const blocks = [...block(2), ...block(1), ...block(2)];
    expect(typesIn(whole)).to.deep.equal(['message_start', ...blocks, ...ends]);
    for (const type of ['message_start', 'message_delta']) {
      const data = whole.split('\n').find((line) => line.includes(`"type":"${type}"`));
      expect(data).to.include('"usage":{"input_tokens":');
    }
  });

  it('never looks whole where the upstream was cut after any of its bytes', () => {
    const enough = UPSTREAM.lastIndexOf('}') + 1;
    for (let n = 0; n < enough; n += 1) {
      const types = typesIn(written(UPSTREAM.subarray(0, n)));
      expect(types.at(-1), `${n} bytes`).to.equal('error');
      expect(types, `${n} bytes`).not.to.include('message_delta');
    }
  });

  it('names the stop sequence that was met, as a whole answer does', async () => {
    const text = UPSTREAM.toString();
    const stop = '"stop_reason":"stop_sequence","stop_sequence":"END"';
    const message = await readBySdk(
      written(Buffer.from(text.replace('"stop_reason":"tool_use"', stop))),
    );
    const ending = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(message).to.include(ending);
    const body = { content: [{ type: 'text', text: 'Hi' }], ...ending };
    const reply = visibleReply(CODEC.decode(body, CALL, claudeAt()), VISIBLE);
    expect(messages.write(HEAD, reply, BILL, WORK)).to.include(ending);
  });

  it('says of a cut that the API failed, never that it is overloaded and to be asked thrice', () => {
    expect(written(UPSTREAM.subarray(0, 500))).to.match(/"error":\{"type":"api_error"/u);
  });

  it('never looks whole to the real client that was cut off after any byte', async () => {
    const bytes = Buffer.from(whole);
    const enough = bytes.lastIndexOf('}') + 1;
    const reads = Array.from({ length: enough }, (_, n) => readBySdk(bytes.subarray(0, n)));
    const outcomes = await Promise.allSettled(reads);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.deep.equal([]);
  });
});
