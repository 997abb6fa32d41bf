import { expect } from 'chai';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { signedId } from '../../../src/lib/tool-id.js';
import { contentsOf, encoded, GEMINI_2_5, GEMINI_3 } from '../../helpers/gemini.js';

const call = (id: string, name: string, args = '{}') =>
  ({ id, type: 'function', function: { name, arguments: args } }) as const;
const result = (id: string, content: ChatMessage['content']): ChatMessage => {
  return { role: 'tool', tool_call_id: id, content: content ?? '' };
};
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const SKIP = 'skip_thought_signature_validator';

describe("a conversation in Gemini's words", () => {
  it('keeps instructions apart from the turns, wherever they stood', () => {
    const { body } = encoded({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
      ],
    });
    expect(body.systemInstruction).to.deep.equal({
      parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }],
    });
    expect(body.contents).to.deep.equal([{ role: 'user', parts: [{ text: 'Hi' }] }]);
  });

  it('begins with a turn of the user where the client begins with a call, or an answer', () => {
    const calls = [call('c1', 'look')];
    const begin = { role: 'user', parts: [{ text: 'Begin.' }] };
    for (const first of [{ content: null, tool_calls: calls }, { content: 'Hello!' }]) {
      const [one, two] = contentsOf([
        { role: 'system', content: 'Be brief.' },
        { role: 'assistant', ...first },
        ...(first.content === null ? [result('c1', 'sun')] : []),
      ]);
      expect([one, two?.role]).to.deep.equal([begin, 'model']);
    }
  });

  it('makes one turn of what one role says in a row', () => {
    const contents = contentsOf([
      { role: 'user', content: 'One' },
      { role: 'user', content: 'Two' },
      { role: 'assistant', content: 'Three' },
      { role: 'assistant', content: 'Four' },
      { role: 'user', content: 'Five' },
    ]);
    expect(contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'model', parts: [{ text: 'Three' }, { text: 'Four' }] },
      { role: 'user', parts: [{ text: 'Five' }] },
    ]);
  });

  it('leaves out empty texts, which the upstream refuses', () => {
    const contents = contentsOf([
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'Hi' },
        ],
      },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Still there?' },
    ]);
    const parts = [{ text: 'Hi' }, { text: 'Still there?' }];
    expect(contents).to.deep.equal([{ role: 'user', parts }]);
  });

  it('asks with the instructions where there is nothing else', () => {
    const { body } = encoded({ messages: [{ role: 'system', content: 'Say hello.' }] });
    expect(body).to.deep.include({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] });
    expect(body).to.not.have.property('systemInstruction');
  });

  it('refuses a prompt that says nothing at all', () => {
    expect(() => contentsOf([{ role: 'user', content: '' }]))
      .to.throw(UpstreamError)
      .that.includes({ fault: 'unsupported', param: 'messages' });
  });
});

describe("the history of tool calls in Gemini's words", () => {
  it('gives results by function name and as an object, all of a turn in one (quirk 17)', () => {
    const contents = contentsOf([
      { role: 'user', content: 'Weather and time?' },
      {
        role: 'assistant',
        content: 'I will look.',
        tool_calls: [call('c1', 'weather', '{"city":"Oslo"}'), call('c2', 'clock')],
      },
      result('c1', '{"sky":"clear"}'),
      result('c2', 'noon'),
      { role: 'user', content: 'Well?' },
    ]);
    expect(contents.slice(1)).to.deep.equal([
      {
        role: 'model',
        parts: [
          { text: 'I will look.' },
          { functionCall: { id: 'c1', name: 'weather', args: { city: 'Oslo' } } },
          { functionCall: { id: 'c2', name: 'clock', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'weather', response: { sky: 'clear' } } },
          { functionResponse: { id: 'c2', name: 'clock', response: { output: 'noon' } } },
          { text: 'Well?' },
        ],
      },
    ]);
  });

  it('puts results that come in another order into the order of the calls', () => {
    const contents = contentsOf([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: null, tool_calls: [call('a', 'f'), call('b', 'f')] },
      result('b', 'second'),
      result('a', 'first'),
    ]);
    const responses = contents[2]?.parts.map(({ functionResponse }) => functionResponse);
    expect(responses).to.deep.equal([
      { id: 'a', name: 'f', response: { output: 'first' } },
      { id: 'b', name: 'f', response: { output: 'second' } },
    ]);
  });

  it('finds the calls of results where ids are used again in a later turn', () => {
    const turn = (first: string, second: string): ChatMessage[] => [
      { role: 'assistant', content: null, tool_calls: [call('0', first), call('1', second)] },
      result('1', second),
      result('0', first),
    ];
    const turns = [...turn('f', 'g'), ...turn('h', 'i')];
    const contents = contentsOf([{ role: 'user', content: 'Go' }, ...turns]);
    const results = contents.flatMap(({ parts }) =>
      parts.flatMap((part) => part.functionResponse ?? []),
    );
    expect(results).to.deep.equal([
      { id: '0', name: 'f', response: { output: 'f' } },
      { id: '1', name: 'g', response: { output: 'g' } },
      { id: '0', name: 'h', response: { output: 'h' } },
      { id: '1', name: 'i', response: { output: 'i' } },
    ]);
  });

  it('refuses a result whose call is not in the conversation', () => {
    expect(() => contentsOf([{ role: 'user', content: 'Go' }, result('lost', 'x')]))
      .to.throw(UpstreamError)
      .that.includes({ fault: 'unsupported', param: 'messages[1].tool_call_id' });
  });

  it('wraps arguments that are no JSON object, so that the conversation can go on', () => {
    for (const [text, args] of [
      ['{"city": "Os', { arguments: '{"city": "Os' }],
      ['[1]', { arguments: [1] }],
      ['', {}],
    ] as const) {
      const [, turn] = contentsOf([
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: null, tool_calls: [call('a', 'f', text)] },
      ]);
      const [part] = turn?.parts ?? [];
      expect(part?.functionCall).to.deep.equal({ id: 'a', name: 'f', args });
    }
  });

  const withImage: ChatMessage[] = [
    { role: 'user', content: 'Draw' },
    { role: 'assistant', content: null, tool_calls: [call('a', 'draw'), call('b', 'sign')] },
    result('a', [
      { type: 'text', text: 'Drawn.' },
      { type: 'image_url', image_url: { url: PIXEL } },
    ]),
    result('b', 'signed'),
  ];
  const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };

  it('gives the image of a result within it to Gemini 3', () => {
    expect(contentsOf(withImage, GEMINI_3)[2]?.parts[0]).to.deep.equal({
      functionResponse: {
        id: 'a',
        name: 'draw',
        response: { output: 'Drawn.' },
        parts: [image],
      },
    });
  });

  it('gives the image of a result after all results to an older model', () => {
    const parts = contentsOf(withImage, GEMINI_2_5)[2]?.parts ?? [];
    expect(parts.map((part) => Object.keys(part)[0])).to.deep.equal([
      'functionResponse',
      'functionResponse',
      'inlineData',
    ]);
    expect(parts[2]).to.deep.equal(image);
  });
});

describe('signatures that Gemini demands back', () => {
  const conversation = (id: string, more: Partial<ChatMessage> = {}): ChatMessage[] => [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: null, tool_calls: [call(id, 'f'), call('c2', 'g')], ...more },
    result(id, 'done'),
    result('c2', 'done'),
  ];

  it('come back from the id of the tool call, which goes out without them (quirk 16)', () => {
    const id = signedId('c1', 'c2lnLzErMg==');
    const [, turn, results] = contentsOf(conversation(id), GEMINI_3);
    expect(turn?.parts).to.deep.equal([
      { functionCall: { id: 'c1', name: 'f', args: {} }, thoughtSignature: 'c2lnLzErMg==' },
      { functionCall: { id: 'c2', name: 'g', args: {} } },
    ]);
    expect(results?.parts[0]).to.have.nested.property('functionResponse.id', 'c1');
  });

  it('come back from the detail that names the call', () => {
    const format = 'google-gemini-v1';
    const detail = { type: 'reasoning.encrypted', format, data: 'QUJD', id: 'c1' };
    const [, turn] = contentsOf(conversation('c1', { reasoning_details: [detail] }), GEMINI_3);
    expect(turn?.parts[0]).to.include({ thoughtSignature: 'QUJD' });
  });

  it('are stood in for on the first call where another upstream made the calls', () => {
    const [, turn] = contentsOf(conversation('toolu_1'), GEMINI_3);
    expect(turn?.parts.map((part) => part.thoughtSignature)).to.deep.equal([SKIP, undefined]);
  });

  it('are not stood in for at models that know nothing of it', () => {
    const [, turn] = contentsOf(conversation('toolu_1'), GEMINI_2_5);
    expect(turn?.parts.every((part) => !('thoughtSignature' in part))).to.equal(true);
  });

  it('come back with the text that they came with, and no foreign ones do', () => {
    const details = [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'Hm', signature: 'x' },
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'QUJD', index: 0 },
      { type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'y' },
    ];
    const [, turn] = contentsOf([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello', reasoning_content: 'Hm', reasoning_details: details },
    ]);
    expect(turn?.parts).to.deep.equal([{ text: 'Hello', thoughtSignature: 'QUJD' }]);
  });
});
