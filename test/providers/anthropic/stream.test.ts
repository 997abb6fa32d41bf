import { expect } from 'chai';
import { chat } from '../../../providers/anthropic.js';
import type { ChatCall, ChatDelta, StreamDecoder } from '../../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { Upstream } from '../../../src/core/model.js';
import { EventReader } from '../../../src/upstream/sse.js';
import { callOf, claudeAt } from '../../helpers/claude.js';
import { inThreeWays } from '../../helpers/packets.js';

interface Outcome {
  deltas: ChatDelta[];
  error: unknown;
}

const LIMITS = { event_bytes: 1_000_000, stream_bytes: 1_000_000 };
const FORMAT = 'anthropic-claude-v1';
const PING = { type: 'ping' };
const STOP = { type: 'message_stop' };

const start = (usage: object = {}, more: object = {}): object => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 20, output_tokens: 1, ...usage },
    ...more,
  },
});
const open = (index: number, content_block: object): object => ({
  type: 'content_block_start',
  index,
  content_block,
});
const add = (index: number, delta: object): object => ({
  type: 'content_block_delta',
  index,
  delta,
});
const close = (index: number): object => ({ type: 'content_block_stop', index });
const end = (stop_reason: string, usage: object = { output_tokens: 31 }, more = {}): object => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, ...more },
  usage,
});
const said = (text: string): object => ({ type: 'text_delta', text });
const argued = (partial_json: string): object => ({ type: 'input_json_delta', partial_json });
const TEXT = { type: 'text', text: '' };

/** Events as Anthropic writes them; a text goes as it is. */
function written(events: readonly (object | string)[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return event;
      const { type } = event as { type: string };
      return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

/** The deltas of a stream; of its reports of usage, only the last one of a whole stream. */
function decode(packets: readonly Uint8Array[], call: ChatCall, to: Upstream): Outcome {
  const read: ChatDelta[] = [];
  const error = failureOf(packets, chat.decodeStream(call, to), read);
  const usage = read.findLast((delta) => delta.usage !== undefined);
  const deltas = read.filter((delta) => delta.usage === undefined);
  return { deltas: usage && !error ? [...deltas, usage] : deltas, error };
}

function failureOf(
  packets: readonly Uint8Array[],
  decoder: StreamDecoder,
  deltas: ChatDelta[],
): unknown {
  const reader = new EventReader(LIMITS);
  try {
    for (const packet of packets) {
      if (decoder.read(reader.read(packet), deltas)) return undefined;
    }
    if (!decoder.read(reader.finish(), deltas)) decoder.end(deltas);
  } catch (error) {
    return error;
  }
  return undefined;
}

/** What a stream says, whichever of three ways its bytes arrive: the same. */
function outcomeOf(
  events: readonly (object | string)[],
  call: ChatCall = callOf({ stream: true }),
  to: Upstream = claudeAt(),
): Outcome {
  const outcomes = inThreeWays(written(events)).map(([, packets]) => decode(packets, call, to));
  const [first = { deltas: [], error: undefined }, ...others] = outcomes;
  for (const { deltas, error } of others) {
    expect(deltas).to.deep.equal(first.deltas);
    expect(String(error)).to.equal(String(first.error));
  }
  return first;
}

function piecesOf(...events: (object | string)[]): ChatDelta[] {
  const { deltas, error } = outcomeOf(events);
  expect(error).to.equal(undefined);
  return deltas;
}

/** The last deltas: why it ended, and usage. */
function ending(finish_reason: string, prompt_tokens = 20, completion_tokens = 31): ChatDelta[] {
  const prompt_tokens_details = { cached_tokens: 0, cache_write_tokens: 0 };
  return [
    { index: 0, finish_reason },
    { usage: { prompt_tokens, completion_tokens, prompt_tokens_details } },
  ];
}

describe('a stream of the anthropic codec', () => {
  it('tells text and calls as they come, usage and the reason at the end', () => {
    expect(
      piecesOf(
        start(),
        open(0, TEXT),
        PING,
        add(0, said('Größe 🌍: ')),
        add(0, said('let me add.')),
        close(0),
        open(1, { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} }),
        add(1, argued('{"a":')),
        add(1, argued('1}')),
        close(1),
        end('tool_use'),
        STOP,
      ),
    ).to.deep.equal([
      { index: 0, content: 'Größe 🌍: ' },
      { index: 0, content: 'let me add.' },
      {
        index: 0,
        tool_calls: [
          { index: 0, id: 'toolu_1', type: 'function', function: { name: 'add', arguments: '' } },
        ],
      },
      { index: 0, tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] },
      { index: 0, tool_calls: [{ index: 0, function: { arguments: '1}' } }] },
      ...ending('tool_use'),
    ]);
  });

  it('quirk 9: counts calls, not blocks, and gives a call without a word of input {}', () => {
    const call = (name: string): object => ({ type: 'tool_use', id: name, name, input: {} });
    const calls = piecesOf(
      start(),
      open(0, TEXT),
      add(0, said('x')),
      close(0),
      open(1, call('a')),
      add(1, argued('')),
      close(1),
      open(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      add(2, argued('{"query":"x"}')),
      close(2),
      open(3, call('b')),
      end('tool_use'),
      STOP,
    ).flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(calls.map(({ index, id, function: f }) => [index, id, f.arguments])).to.deep.equal([
      [0, 'a', ''],
      [0, undefined, '{}'],
      [1, 'b', ''],
      [1, undefined, '{}'],
    ]);
  });

  it('shows thoughts, and gives each with its signature once it is whole', () => {
    const thinking = { type: 'thinking', thinking: '', signature: '' };
    const deltas = piecesOf(
      start(),
      open(0, thinking),
      add(0, { type: 'thinking_delta', thinking: 'I ' }),
      add(0, { type: 'thinking_delta', thinking: 'see.' }),
      add(0, { type: 'signature_delta', signature: 'sig' }),
      close(0),
      open(1, { type: 'redacted_thinking', data: 'xyz' }),
      close(1),
      open(2, thinking),
      add(2, { type: 'thinking_delta', thinking: 'Yes.' }),
      add(2, { type: 'signature_delta', signature: 'gis' }),
      close(2),
      open(3, TEXT),
      add(3, said('Done.')),
      close(3),
      end('end_turn'),
      STOP,
    );
    const detail = (type: string, more: object, index: number): object => ({
      index: 0,
      reasoning_details: [{ type, ...more, format: FORMAT, index }],
    });
    expect(deltas).to.deep.equal([
      { index: 0, reasoning_content: 'I ' },
      { index: 0, reasoning_content: 'see.' },
      detail('reasoning.text', { text: 'I see.', signature: 'sig' }, 0),
      detail('reasoning.encrypted', { data: 'xyz' }, 1),
      { index: 0, reasoning_content: '\n\nYes.', parted_by: 2 },
      detail('reasoning.text', { text: 'Yes.', signature: 'gis' }, 2),
      { index: 0, content: 'Done.' },
      ...ending('end_turn'),
    ]);
  });

  it('quirk 6: takes the last word on each count of usage, be it less than the first', () => {
    const first = { input_tokens: 100, cache_read_input_tokens: 55_000 };
    const last = { input_tokens: 181, cache_read_input_tokens: null, output_tokens: 7 };
    const usage = piecesOf(start(first), end('end_turn', last), STOP).at(-1)?.usage;
    expect(usage).to.deep.include({ prompt_tokens: 55_181, completion_tokens: 7 });
  });

  it('charges the prompt once when the last usage says zero', () => {
    const first = {
      input_tokens: 100,
      cache_read_input_tokens: 50,
      cache_creation_input_tokens: 7,
    };
    const zeros = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const last = { ...zeros, output_tokens: 30 };
    expect(piecesOf(start(first), end('end_turn', last), STOP).at(-1)?.usage).to.deep.equal({
      prompt_tokens: 157,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 7 },
    });
  });

  it('has no usage where the upstream gives none', () => {
    const silent = { type: 'message_start', message: { id: 'msg_1' } };
    expect(piecesOf(silent, { type: 'message_delta', delta: {} }, STOP)).to.deep.equal([
      { index: 0, finish_reason: 'stop' },
    ]);
  });

  it('quirk 15: ends a refusal without any block, telling its explanation', () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'Blocked.' };
    const refused = end('refusal', undefined, { stop_details });
    expect(piecesOf(start(), PING, refused, STOP)).to.deep.equal([
      { index: 0, content: 'Blocked.' },
      ...ending('refusal'),
    ]);
    const [first] = piecesOf(start(), open(0, TEXT), add(0, said('I')), refused, STOP);
    expect(first).to.deep.equal({ index: 0, content: 'I' });
  });

  it('skips pings, comments, and events, blocks and deltas of later versions', () => {
    const deltas = piecesOf(
      ': hello\n\n',
      PING,
      start(),
      { type: 'telemetry', load: [1, 2] },
      open(0, { type: 'of_a_later_version', text: 'no' }),
      add(0, said('no')),
      close(0),
      open(1, TEXT),
      add(1, { type: 'citations_delta', citation: {} }),
      add(1, said('yes')),
      add(7, said('no')),
      close(7),
      'event: ping\ndata:\n\n',
      end('end_turn'),
      STOP,
    );
    expect(deltas).to.deep.equal([{ index: 0, content: 'yes' }, ...ending('end_turn')]);
  });

  it('reads content that the first event already holds', () => {
    const content = [{ type: 'tool_use', id: 't', name: 'now', input: { zone: 'UTC' } }];
    const calls = piecesOf(start({}, { content }), end('tool_use'), STOP).flatMap(
      ({ tool_calls }) => tool_calls ?? [],
    );
    expect(calls.map(({ function: f }) => f.arguments)).to.deep.equal(['', '{"zone":"UTC"}']);
  });

  it('takes a second start of the same message for noise, of another one for a broken stream', () => {
    const middle = [open(0, TEXT), add(0, said('x'))];
    expect(piecesOf(start(), start(), ...middle, end('end_turn'), STOP)).to.have.length(3);
    const { deltas, error } = outcomeOf([start(), ...middle, start({}, { id: 'msg_2' }), STOP]);
    expect(deltas).to.deep.equal([{ index: 0, content: 'x' }]);
    expect(error).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
  });

  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

  it('quirk 10: fails with nothing said where the first event of a 200 is an error', () => {
    for (const before of [[], [start(), PING]]) {
      const { deltas, error } = outcomeOf([...before, overloaded]);
      expect(deltas).to.deep.equal([]);
      expect(error).to.be.instanceOf(UpstreamError).with.property('fault', 'overloaded');
    }
  });

  it('quirk 10: gives what came before an error in the midst, and then the error', () => {
    const events = [start(), open(0, TEXT), add(0, said('x')), overloaded, STOP];
    const { deltas, error } = outcomeOf(events);
    expect(deltas).to.deep.equal([{ index: 0, content: 'x' }]);
    expect(error).to.be.instanceOf(UpstreamError).with.property('fault', 'overloaded');
  });

  it('is broken where it ends without message_stop, or is no JSON', () => {
    const whole = [start(), open(0, TEXT), add(0, said('x')), close(0), end('end_turn')];
    for (let length = 0; length <= whole.length; length += 1) {
      const { error } = outcomeOf(whole.slice(0, length));
      expect(error).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
    }
    expect(outcomeOf([STOP]).error).to.have.property('fault', 'broken');
    expect(outcomeOf([start(), 'data: {"type":\n\n']).error).to.have.property('fault', 'broken');
    expect(outcomeOf(['data: 7\n\n']).error).to.have.property('fault', 'broken');
  });

  it('tells the input of the tool that stands for structured output as text', () => {
    const schema = { type: 'object', properties: { a: {} }, required: ['a'] };
    const json_schema = { name: 'out', schema };
    const fields = { response_format: { type: 'json_schema', json_schema } };
    const { deltas } = outcomeOf(
      [
        start(),
        open(0, { type: 'tool_use', id: 't', name: 'out', input: {} }),
        add(0, argued('{"a":')),
        add(0, argued('1}')),
        close(0),
        end('tool_use'),
        STOP,
      ],
      callOf({ stream: true, fields }),
      claudeAt('claude-3-haiku-20240307'),
    );
    expect(deltas).to.deep.equal([
      { index: 0, content: '{"a":' },
      { index: 0, content: '1}' },
      ...ending('tool_use'),
    ]);
  });
});
