import { expect } from 'chai';
import type { ChatDelta, ChatReply } from '../../../src/modalities/chat/codec.js';
import { UsageReport } from '../../../src/modalities/chat/usage-report.js';
import type { ReplyMemory } from '../../../src/upstream/reply-body.js';
import { StreamReader, EventReader } from '../../../src/upstream/sse.js';
import { readWhole } from '../../../src/modalities/chat/whole-reply.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { each } from '../../helpers/packets.js';

const LIMITS = { event_bytes: 10_000, stream_bytes: 10_000 };

/**
 * Reads a stream whose events are deltas as JSON; `end` is the last, and any other word breaks it.
 */
function read(
  events: readonly (ChatDelta | string)[],
  memory?: ReplyMemory,
  report = new UsageReport(0, 2),
): Promise<ChatReply> {
  const packets = events.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  const decoder = report.noting({
    read: (packet, deltas) =>
      packet.some(({ data }) => {
        const said = JSON.parse(data) as ChatDelta | string;
        if (said === 'end') return true;
        if (typeof said === 'string') throw new UpstreamError('overloaded', said);
        deltas.push(said);
        return false;
      }),
    end: () => {
      throw new UpstreamError('broken', 'It broke off.');
    },
  });
  const reader = new StreamReader(each(packets), new EventReader(LIMITS), decoder);
  return readWhole(reader, memory, report);
}

const failure = (reading: Promise<unknown>): Promise<unknown> =>
  reading.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a stream that is read as a whole answer', () => {
  it('has all that its deltas say, choice by choice', async () => {
    const detail = { type: 'reasoning.text' as const, text: 'Hm so', signature: 's' };
    const call = (more: object): ChatDelta => ({
      index: 0,
      tool_calls: [{ index: 0, function: {}, ...more }],
    });
    const deltas: (ChatDelta | string)[] = [
      { index: 0, reasoning_content: 'Hm' },
      { index: 0, reasoning_content: ' so' },
      { index: 0, reasoning_details: [detail] },
      { index: 1, content: 'Good ' },
      call({ id: 'c1', type: 'function', function: { name: 'add', arguments: '' } }),
      call({ function: { arguments: '{"a":' } }),
      { index: 1, content: 'day' },
      call({ function: { arguments: '1}' } }),
      { index: 0, finish_reason: 'tool_calls' },
      { index: 1, finish_reason: 'stop' },
      { usage: { prompt_tokens: 1 } },
      { usage: { prompt_tokens: 2 } },
      { usage: { prompt_tokens: 0, completion_tokens: 3 } },
      'end',
    ];
    expect(await read(deltas)).to.deep.equal({
      choices: [
        {
          index: 0,
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
          ],
          reasoning_content: 'Hm so',
          reasoning_details: [detail],
          finish_reason: 'tool_calls',
        },
        { index: 1, content: 'Good day', finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 3 },
    });
  });

  it('fails where the stream fails, or is not whole', async () => {
    const broken = await failure(read([{ index: 0, content: 'x' }]));
    expect(broken).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
    const events = [{ index: 0, content: 'x' }, 'Too busy.', 'end'];
    const busy = await failure(read(events));
    expect(busy).to.be.instanceOf(UpstreamError).with.property('fault', 'overloaded');
  });

  it("ends where its client's memory is full", async () => {
    const full = new Error('full');
    const memory = {
      grow: (bytes: number): void => {
        if (bytes > 4) throw full;
      },
    };
    const events = [{ index: 0, content: 'four' }, { index: 0, content: 'five!' }, 'end'];
    expect(await failure(read(events, memory))).to.equal(full);
  });
});
