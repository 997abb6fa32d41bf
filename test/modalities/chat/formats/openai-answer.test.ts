import { expect } from 'chai';
import type { ChatDelta } from '../../../../src/modalities/chat/codec.js';
import {
  ChunkWriter,
  completion,
  finishReason,
} from '../../../../src/modalities/chat/formats/openai-answer.js';
import { visibleReply } from '../../../../src/modalities/chat/planned-chat.js';
import { dataOf } from '../../../money/helpers/scripted-gateway.js';
import type { VisibleParts } from '../../../../src/modalities/chat/call.js';

const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm"1' };
const FORMAT = { object: 'text_completion.chunk' };
const ALL: VisibleParts = { choices: 2, tools: true, reasoning: true, logprobs: true };
const PLAIN: VisibleParts = { choices: 1, tools: false, reasoning: false, logprobs: false };

const fragment = { index: 0, id: 'call_1', function: { name: 'f', arguments: '{"a"' } };

interface Choice {
  index: number;
  delta: object;
  finish_reason: string | null;
  logprobs?: unknown;
}

/** The choices of the events that some deltas make, one after the other. */
function frame(framer: ChunkWriter, deltas: readonly ChatDelta[]): Choice[] {
  return dataOf(framer.frame(deltas)).map((json) => {
    const { choices, ...head } = JSON.parse(json) as { choices: Choice[] };
    expect(head).to.deep.equal({ ...HEAD, object: 'text_completion.chunk' });
    expect(choices).to.have.length(1);
    return choices[0] ?? { index: -1, delta: {}, finish_reason: null };
  });
}

const role = { role: 'assistant' };

describe('the OpenAI chunk writer', () => {
  const ROWS: [string, VisibleParts, ChatDelta[], object[]][] = [
    ['a text', PLAIN, [{ index: 0, content: 'a\n"' }], [role, { content: 'a\n"' }]],
    ['an empty text', PLAIN, [{ index: 0, content: '' }], [role]],
    ['usage alone', PLAIN, [{ usage: { prompt_tokens: 1 } }], []],
    ['more choices than asked for', PLAIN, [{ index: 1, content: 'b' }], []],
    ['hidden reasoning', PLAIN, [{ index: 0, reasoning_content: 'hm' }], [role]],
    [
      'shown reasoning',
      ALL,
      [{ index: 0, reasoning_content: 'hm' }],
      [role, { reasoning_content: 'hm' }],
    ],
    ['hidden tool calls', PLAIN, [{ index: 0, tool_calls: [fragment] }], [role]],
    [
      'shown tool calls',
      ALL,
      [{ index: 0, tool_calls: [fragment] }],
      [role, { tool_calls: [fragment] }],
    ],
    [
      'text after the end of its choice',
      PLAIN,
      [
        { index: 0, content: 'a', finish_reason: 'stop' },
        { index: 0, content: 'b' },
      ],
      [role, { content: 'a' }, {}],
    ],
    [
      'two choices at once',
      ALL,
      [
        { index: 1, content: 'b' },
        { index: 0, content: 'a' },
        { index: 1, content: 'c' },
      ],
      [role, { content: 'b' }, role, { content: 'a' }, { content: 'c' }],
    ],
  ];
  for (const [name, visible, deltas, expected] of ROWS) {
    it(`frames ${name}`, () => {
      const choices = frame(new ChunkWriter(HEAD, visible, FORMAT), deltas);
      expect(choices.map(({ delta }) => delta)).to.deep.equal(expected);
    });
  }

  it('gives each choice one finish reason, at its end', () => {
    const framer = new ChunkWriter(HEAD, ALL, FORMAT);
    const choices = frame(framer, [
      { index: 0, tool_calls: [fragment] },
      { index: 0, finish_reason: 'stop' },
      { index: 0, finish_reason: 'length' },
      { index: 1, finish_reason: 'odd' },
    ]);
    const reasons = choices.map(({ index, finish_reason }) => [index, finish_reason]);
    expect(reasons).to.deep.equal([
      [0, null],
      [0, null],
      [0, 'tool_calls'],
      [1, null],
      [1, 'stop'],
    ]);
  });

  it('shows log probabilities only where they pass', () => {
    const deltas = [{ index: 0, content: 'a', logprobs: { content: [] } }];
    expect(frame(new ChunkWriter(HEAD, ALL, FORMAT), deltas)[1]?.logprobs).to.deep.equal({
      content: [],
    });
    expect(frame(new ChunkWriter(HEAD, PLAIN, FORMAT), deltas)[1]).to.not.have.property('logprobs');
  });

  it('remembers what it has shown, choice by choice', () => {
    const framer = new ChunkWriter(HEAD, ALL, FORMAT);
    framer.frame([
      { index: 0, content: 'one', reasoning_content: 'hm ' },
      { index: 1, tool_calls: [fragment] },
      { index: 0, content: ' two' },
    ]);
    expect(framer.texts()).to.deep.equal([
      { index: 0, text: 'onehm  two' },
      { index: 1, text: 'f{"a"' },
    ]);
  });

  it('ends with usage and no choices', () => {
    const usage = { prompt_tokens: 9, completion_tokens: 5 };
    const bill = { usage, cost_nano: 0n, estimated: false };
    const text = new ChunkWriter(HEAD, PLAIN, FORMAT).end(bill);
    const [json = '', done] = dataOf(text);
    expect(done).to.equal('[DONE]');
    expect(JSON.parse(json)).to.deep.equal({
      ...HEAD,
      object: 'text_completion.chunk',
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    });
  });
});

describe('finishReason', () => {
  const ROWS: [said: string | null | undefined, plain: string, withCalls: string][] = [
    ['stop', 'stop', 'tool_calls'],
    ['length', 'length', 'length'],
    ['content_filter', 'content_filter', 'content_filter'],
    ['tool_calls', 'stop', 'tool_calls'],
    ['function_call', 'stop', 'tool_calls'],
    ['max_tokens', 'length', 'length'],
    ['MAX_TOKENS', 'length', 'length'],
    ['model_length', 'length', 'length'],
    ['SAFETY', 'content_filter', 'content_filter'],
    ['refusal', 'content_filter', 'content_filter'],
    ['STOP', 'stop', 'tool_calls'],
    ['eos_token', 'stop', 'tool_calls'],
    ['constructor', 'stop', 'tool_calls'],
    ['', 'stop', 'tool_calls'],
    [null, 'stop', 'tool_calls'],
    [undefined, 'stop', 'tool_calls'],
  ];
  for (const [said, plain, withCalls] of ROWS) {
    it(`makes ${plain} of ${JSON.stringify(said)}, and ${withCalls} where tools are called`, () => {
      expect(finishReason(said, false)).to.equal(plain);
      expect(finishReason(said, true)).to.equal(withCalls);
    });
  }
});

describe('the details of reasoning', () => {
  const details = [{ type: 'reasoning.encrypted' as const, data: 'ZGF0YQ==', index: 0 }];
  const choice = { index: 0, content: 'Hi', finish_reason: 'stop', reasoning_details: details };
  const usage = { prompt_tokens: 1, completion_tokens: 1 };

  const wholeTo = (visible: VisibleParts): string => {
    const reply = visibleReply({ choices: [choice], usage }, visible);
    return JSON.stringify(completion(HEAD, reply, usage));
  };
  const streamTo = (visible: VisibleParts): string =>
    new ChunkWriter(HEAD, visible, FORMAT).frame([{ index: 0, reasoning_details: details }]);

  it('are shown where the model shows its reasoning', () => {
    const written = `"reasoning_details":${JSON.stringify(details)}`;
    expect(wholeTo(ALL)).to.contain(written);
    expect(streamTo(ALL)).to.contain(`"delta":{${written}}`);
  });

  it('are kept back where the model keeps its reasoning back', () => {
    expect(wholeTo(PLAIN)).not.to.contain('reasoning');
    expect(streamTo(PLAIN)).not.to.contain('reasoning');
  });

  it('are no text that is paid for, and repeat none', () => {
    const writer = new ChunkWriter(HEAD, ALL, FORMAT);
    writer.frame([{ index: 0, reasoning_details: details }]);
    expect([writer.hasSpoken, writer.texts()]).to.deep.equal([false, []]);
    const text = [{ type: 'reasoning.text' as const, text: 'Hm' }];
    writer.frame([{ index: 0, reasoning_content: 'Hm', reasoning_details: text }]);
    expect([writer.hasSpoken, writer.texts()]).to.deep.equal([true, [{ index: 0, text: 'Hm' }]]);
  });

  it('leave the text beside them as it is', () => {
    const writer = new ChunkWriter(HEAD, ALL, FORMAT);
    const text = writer.frame([{ index: 0, content: 'Hi', reasoning_details: details }]);
    expect(text).to.contain(`"delta":{"content":"Hi","reasoning_details":`);
    expect(writer.texts()).to.deep.equal([{ index: 0, text: 'Hi' }]);
  });
});
