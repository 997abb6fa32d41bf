import { expect } from 'chai';
import { chat as openai } from '../../../providers/openai.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { CustomInput } from '../../../src/modalities/chat/formats/custom-input.js';
import { EventReader } from '../../../src/upstream/sse.js';
import { isLinear } from '../../helpers/linear-time.js';
import { providerAt, sse, upstreamAt, type Step } from '../../helpers/upstream.js';
import { onlyCharge, scriptedGateways } from '../../money/helpers/scripted-gateway.js';

const SETTINGS = 'limits: { answer_calls: 3, answer_parts: 3, stream_events: 12, event: 4kb }';
const LIMITS = { event_bytes: 10_000_000, stream_bytes: 100_000_000 };
const CALL: ChatCall = { messages: [], stream: true, n: 1, max_tokens: 9, fields: {} };

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (index: number, args = '{}'): object => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'look', arguments: args },
});
const thought = (index: number): object =>
  chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm', index }] });
const END = [chunk({}, 'stop'), 'data: [DONE]\n\n'];
const hi = chunk({ content: 'Hi' });

/** Streams of a text and something without a limit, with the message that ends them. */
const STREAMS: Record<string, [events: object[], message: RegExp]> = {
  'tool calls': [
    [0, 1, 2, 3].map((index) => chunk({ tool_calls: [call(index)] })),
    /over 3 tool calls/u,
  ],
  'parts of reasoning': [[0, 1, 0, 1].map(thought), /over 3 parts of reasoning/u],
  events: [Array.from({ length: 13 }, () => hi), /over 12 events/u],
  'pieces of calls that wait': [
    [
      chunk({ tool_calls: [call(0, '{')] }),
      chunk({ tool_calls: [call(1, 'x'.repeat(3_000))] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: 'x'.repeat(3_000) } }] }),
    ],
    /over 4096 bytes wait/u,
  ],
};

describe('an answer that is larger than any sound one', () => {
  const open = scriptedGateways();

  async function ask(step: Step, stream: boolean): Promise<[status: number, text: string]> {
    const gateway = await open(step, { settings: SETTINGS });
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const messages = [{ role: 'user', content: 'Hello' }];
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': gateway.secret,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'm', max_tokens: 50, messages, tools, stream }),
    });
    const text = await response.text();
    if (response.status === 200) expect((await onlyCharge(gateway)).estimated).to.equal(true);
    else expect(await gateway.charges()).to.deep.equal([]);
    return [response.status, text];
  }

  for (const [name, [events, message]] of Object.entries(STREAMS)) {
    it(`ends a stream with an error and charges what was delivered: ${name}`, async () => {
      const [status, text] = await ask(sse([hi, ...events, ...END]), true);
      expect(status).to.equal(200);
      expect(text).to.match(message).and.not.include('message_stop');
    });
  }

  it('is 502 as a whole, and free', async () => {
    const tool_calls = [0, 1, 2, 3].map((index) => call(index));
    const choices = [{ index: 0, message: { content: 'Hi', tool_calls }, finish_reason: 'stop' }];
    const headers = { 'content-type': 'application/json' };
    const [status, text] = await ask({ headers, body: JSON.stringify({ choices }) }, false);
    expect(status).to.equal(502);
    expect(text).to.match(/over 3 tool calls/u);
  });

  it('counts a part of reasoning once, however many pieces it has', async () => {
    const events = [0, 0, 0, 0, 1, 1, 1].map(thought);
    const usage = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 5 } };
    const gateway = await open(sse([hi, ...events, END[0] ?? {}, usage, END[1] ?? '']), {
      settings: SETTINGS,
      model: 'passthrough: [reasoning_content]',
    });
    const response = await gateway.post({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(await response.text()).to.include('[DONE]');
  });
});

describe('the time that a stream takes', () => {
  /** Reads a text as an upstream's stream, in packets. */
  function read(text: string): void {
    const bytes = Buffer.from(text);
    const upstream = upstreamAt(providerAt('http://127.0.0.1'));
    const decoder = openai.decodeStream(CALL, upstream);
    const reader = new EventReader(LIMITS);
    try {
      for (let at = 0; at < bytes.length; at += 65_536) {
        decoder.read(reader.read(bytes.subarray(at, at + 65_536)), []);
      }
    } catch {
      // It ends early.
    }
  }

  const texts: Record<string, () => string> = {
    'tool calls': () =>
      Array.from(
        { length: 20_000 },
        (_, index) => `data: ${JSON.stringify(chunk({ tool_calls: [call(index)] }))}\n\n`,
      ).join(''),
    'lines whose ends differ': () => `${':\n'.repeat(65_535)}\r`.repeat(20),
    'lines that are no fields': () => 'a\n'.repeat(1_000_000),
    'lines of one event': () => 'data:1\n'.repeat(1_000_000),
  };
  for (const [name, textOf] of Object.entries(texts)) {
    it(`grows with its length alone, with many ${name}`, () => {
      expect(isLinear(textOf(), read)).to.equal(true);
    });
  }

  it('grows with its length alone, with an input that a custom tool does not have', () => {
    const addAll = (text: string): void => {
      const input = new CustomInput();
      for (let at = 0; at < text.length; at += 30) input.add(text.slice(at, at + 30));
    };
    expect(isLinear(`{"other":"${'x'.repeat(2_000_000)}"}`, addAll)).to.equal(true);
  });
});
