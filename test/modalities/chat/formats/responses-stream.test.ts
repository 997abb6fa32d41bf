import { expect } from 'chai';
import OpenAI from 'openai';
import { Stream } from 'openai/streaming';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { ChatDelta } from '../../../../src/modalities/chat/codec.js';
import type { ChatRequest } from '../../../../src/modalities/chat/call.js';
import { ResponsesWriter } from '../../../../src/modalities/chat/formats/responses-stream.js';

const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm' };
const VISIBLE = { choices: 1, tools: true, reasoning: true, logprobs: true };
const BILL = {
  usage: { prompt_tokens: 9, completion_tokens: 5, cached_tokens: 4, reasoning_tokens: 2 },
  cost_nano: 1n,
  estimated: false,
};
const TOOLS: NonNullable<ChatRequest['tools']> = new Map([
  ['sky__rain', { name: 'rain', namespace: 'sky' }],
  ['run', { name: 'run', is_custom: true }],
]);

const call = (index: number, name: string): ChatDelta => ({
  index: 0,
  tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }],
});
const args = (index: number, text: string): ChatDelta => ({
  index: 0,
  tool_calls: [{ index, function: { arguments: text } }],
});

/** Every kind of item: reasoning with its state, a text, and three calls. */
const PIECES: readonly ChatDelta[] = [
  { index: 0, reasoning_content: 'Hm' },
  { index: 0, reasoning_details: [{ type: 'reasoning.encrypted', data: 'e' }] },
  { index: 0, content: 'Grüße', logprobs: { content: [{ token: 'Grüße', logprob: -1 }] } },
  { index: 0, content: ', 🌍' },
  call(0, 'sky__rain'),
  args(0, '{"a"'),
  args(0, ':1}'),
  call(1, 'run'),
  args(1, '{"input":"l'),
  args(1, 's"}'),
  call(2, 'none'),
];

function written(deltas: readonly ChatDelta[], finish_reason = 'tool_calls'): string {
  const writer = new ResponsesWriter(HEAD, VISIBLE, {
    tools: TOOLS,
    echo: { metadata: { a: 'b' } },
  });
  return writer.frame([...deltas, { index: 0, finish_reason }]) + writer.end(BILL);
}

/** The events that OpenAI's own client reads from the bytes. */
async function readBy(bytes: Uint8Array<ArrayBuffer>): Promise<ResponseStreamEvent[]> {
  const answer = new Response(bytes, { headers: { 'content-type': 'text/event-stream' } });
  const events: ResponseStreamEvent[] = [];
  const stream = Stream.fromSSEResponse<ResponseStreamEvent>(answer, new AbortController());
  for await (const event of stream) events.push(event);
  return events;
}

/** OpenAI's own client, before a server that answers with that text. */
function clientOf(text: string): OpenAI {
  const headers = { 'content-type': 'text/event-stream' };
  const fetch = (): Promise<Response> => Promise.resolve(new Response(text, { headers }));
  return new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1', maxRetries: 0, fetch });
}

const WHOLE = written(PIECES);

describe('the stream of a response', () => {
  it('adds, fills and ends each item before the next one', async () => {
    const events = await readBy(new TextEncoder().encode(WHOLE));
    expect(events.map(({ type }) => type.replace('response.', ''))).to.deep.equal([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).to.deep.equal([...events.keys()]);
  });

  it('is the same item in its events and in the whole response', async () => {
    const events = await readBy(new TextEncoder().encode(WHOLE));
    const done = events.flatMap((event) =>
      event.type === 'response.output_item.done' ? [event.item] : [],
    );
    const last = events.at(-1);
    expect(last?.type === 'response.completed' && last.response.output).to.deep.equal(done);
    const joined = (index: number): string =>
      events
        .flatMap((event) =>
          'delta' in event && 'output_index' in event && event.output_index === index
            ? [event.delta]
            : [],
        )
        .join('');
    expect([0, 1, 2, 3, 4].map(joined)).to.deep.equal(['Hm', 'Grüße, 🌍', '{"a":1}', 'ls', '{}']);
  });

  it("gives OpenAI's stream helper the whole response", async () => {
    const stream = clientOf(WHOLE).responses.stream({ model: 'm', input: 'x' });
    const { status, output_text, output, usage, metadata } = await stream.finalResponse();
    expect({ status, output_text, metadata }).to.deep.equal({
      status: 'completed',
      output_text: 'Grüße, 🌍',
      metadata: { a: 'b' },
    });
    expect(output.map(({ type }) => type)).to.deep.equal([
      'reasoning',
      'message',
      'function_call',
      'custom_tool_call',
      'function_call',
    ]);
    expect(output[2]).to.deep.include({ namespace: 'sky', name: 'rain', arguments: '{"a":1}' });
    expect(usage).to.deep.include({ input_tokens: 9, output_tokens: 5, total_tokens: 14 });
  });

  it('looks complete to no client, wherever it is cut', async () => {
    const bytes = new TextEncoder().encode(written(PIECES.slice(3, 6)));
    const ends = new Set(['response.completed', 'response.incomplete']);
    for (let length = 0; length < bytes.length; length += 1) {
      // A client throws where JSON is cut, which is as good.
      const events = await readBy(bytes.slice(0, length)).catch(() => []);
      if (events.some(({ type }) => ends.has(type))) {
        expect.fail(`It looks complete after ${length} of ${bytes.length} bytes.`);
      }
    }
  });

  it('has no done call where its arguments were cut short, and is incomplete', async () => {
    const events = await readBy(new TextEncoder().encode(written(PIECES.slice(0, 6), 'length')));
    const calls = events.filter((event) => 'item' in event && event.item.type === 'function_call');
    expect(calls.map(({ type }) => type)).to.deep.equal(['response.output_item.added']);
    const last = events.at(-1);
    if (last?.type !== 'response.incomplete') throw new Error('It is not incomplete.');
    expect(last.response.incomplete_details).to.deep.equal({ reason: 'max_output_tokens' });
    expect(last.response.output.at(-1)).to.include({ status: 'incomplete', arguments: '{"a"' });
  });
});
