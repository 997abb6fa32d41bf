import { expect } from 'chai';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { ChatDelta, ToolCallFragment } from '../../../src/modalities/chat/codec.js';
import { CallsInTurn } from '../../../src/modalities/chat/tool-call-order.js';

const call = (index: number, args: string, name?: string): ToolCallFragment => ({
  index,
  ...(name !== undefined && { id: `c${index}` }),
  function: { ...(name !== undefined && { name }), arguments: args },
});
const calls = (...tool_calls: ToolCallFragment[]): ChatDelta => ({ index: 0, tool_calls });

describe('tool calls in turn', () => {
  it('holds nothing of calls that come one after another', () => {
    const order = new CallsInTurn(0, undefined);
    const deltas = [
      calls(call(0, '{"a":', 'look')),
      calls(call(0, '"}{"}')),
      { index: 0, content: 'Hm' },
      calls(call(1, '[1]', 'rain')),
      calls(call(2, '{', 'look')),
    ];
    for (const delta of deltas) expect(order.take([delta])).to.deep.equal([delta]);
    expect(order.waiting).to.deep.equal([]);
  });

  it('holds a call whose predecessor has arguments that are no JSON, until the end', () => {
    const order = new CallsInTurn(1_000, undefined);
    order.take([calls(call(0, 'city: Oslo', 'look'), call(1, '{}', 'rain'))]);
    expect(order.waiting).to.deep.equal([calls(call(1, '{}', 'rain'))]);
    const end = { index: 0, finish_reason: 'tool_calls' };
    expect(order.take([end])).to.deep.equal([calls(call(1, '{}', 'rain')), end]);
  });

  it('keeps the choices of an answer apart, and lets usage pass', () => {
    const order = new CallsInTurn(1_000, undefined);
    order.take([calls(call(0, '{', 'look'))]);
    const other = { index: 1, content: 'Hi' };
    const ready = order.take([{ index: 0, content: 'Hm', usage: { prompt_tokens: 1 } }, other]);
    expect(ready).to.deep.equal([{ usage: { prompt_tokens: 1 } }, other]);
  });

  it('refuses arguments of a call that has ended, but not its repeated ID', () => {
    const order = new CallsInTurn(1_000, undefined);
    order.take([calls(call(0, '{}', 'look'), call(1, '{}', 'rain'))]);
    expect(order.take([calls(call(0, ' '))])).to.deep.equal([]);
    expect(() => order.take([calls(call(0, '{}'))])).to.throw(UpstreamError, 'had ended');
  });

  it('holds no more than it may, and counts it as memory of the client', () => {
    let grown = 0;
    const memory = { grow: (bytes: number) => void (grown += bytes) };
    const order = new CallsInTurn(1_000, memory);
    order.take([calls(call(0, '{', 'look'), call(1, 'x'.repeat(500), 'rain'))]);
    expect(grown).to.be.within(500, 1_000);
    expect(() => order.take([{ index: 0, content: 'y'.repeat(500) }])).to.throw(
      UpstreamError,
      'over 1000 bytes wait',
    );
  });
});
