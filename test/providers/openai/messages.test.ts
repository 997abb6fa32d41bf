import { expect } from 'chai';
import { sentMessages } from '../../../providers/openai/messages.js';
import type { Upstream } from '../../../src/core/model.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const MARK = { type: 'ephemeral', ttl: '1h' };
const CALL = { id: 'c1', type: 'function' as const, function: { name: 'add', arguments: '{}' } };

function to(wire: Record<string, unknown> = {}, model = 'fake-1'): Upstream {
  return upstreamAt(providerAt('http://fake.invalid', { wire }), { model });
}

function sent(message: ChatMessage, wire: Record<string, unknown> = {}): object | undefined {
  return sentMessages([message], to(wire)).messages[0];
}

describe('messages on the openai wire', () => {
  it('are passed on without a copy where all of them are plain text', () => {
    const messages: ChatMessage[] = [{ role: 'user', content: 'Hi' }];
    const flags = { tool_id_length: 9, reasoning_back: 'reasoning', text_content: true };
    expect(sentMessages(messages, to(flags)).messages).to.equal(messages);
  });

  it('lose the signatures in tool call ids on the way to another wire', () => {
    const calls = [{ ...CALL, id: 'c1~ts~QUJD' }];
    const messages: ChatMessage[] = [
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', content: '1', tool_call_id: 'c1~ts~QUJD' },
    ];
    expect(sentMessages(messages, to()).messages).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', content: '1', tool_call_id: 'c1' },
    ]);
  });

  it('keep the detail of an image, and a file where files are taken', () => {
    const content: ChatMessage['content'] = [
      { type: 'image_url', image_url: { url: 'https://a.example/b.png', detail: 'low' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' } },
    ];
    expect(sent({ role: 'user', content }, { files: true })).to.deep.equal({
      role: 'user',
      content,
    });
  });

  it('are unsupported with a file that the upstream does not take, so that the next one is asked', () => {
    const content: ChatMessage['content'] = [{ type: 'file', file: { file_id: 'f' } }];
    expect(() => sent({ role: 'user', content }))
      .to.throw(UpstreamError)
      .that.includes({ fault: 'unsupported', param: 'messages[0].content[0]' });
  });

  it('images in tool results, which were 400, follow the results in a message of the user', () => {
    const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,QQ==' } };
    const text = { type: 'text' as const, text: 'A cat:' };
    const messages: ChatMessage[] = [
      { role: 'assistant', content: null, tool_calls: [CALL, { ...CALL, id: 'c2' }] },
      { role: 'tool', content: [text, image], tool_call_id: 'c1' },
      { role: 'tool', content: [image], tool_call_id: 'c2~ts~QUJD' },
      { role: 'assistant', content: 'Two cats.' },
      { role: 'tool', content: [image], tool_call_id: 'c1' },
    ];
    const headed = (id: string) => ({ type: 'text', text: `The result of the tool call ${id}:` });
    expect(sentMessages(messages, to()).messages.slice(1)).to.deep.equal([
      { role: 'tool', content: [text], tool_call_id: 'c1' },
      { role: 'tool', content: 'The result follows.', tool_call_id: 'c2' },
      { role: 'user', content: [headed('c1'), image, headed('c2'), image] },
      { role: 'assistant', content: 'Two cats.' },
      { role: 'tool', content: 'The result follows.', tool_call_id: 'c1' },
      { role: 'user', content: [headed('c1'), image] },
    ]);
  });

  it('lose the mark of a tool that failed, which this wire has no word for, and name it', () => {
    const failed: ChatMessage = { role: 'tool', content: 'x', tool_call_id: 'c1', is_error: true };
    expect(sentMessages([failed], to())).to.deep.equal({
      messages: [{ role: 'tool', content: 'x', tool_call_id: 'c1' }],
      ignored: ['messages[].is_error'],
    });
  });

  it('are one text for an upstream that takes no lists, and never null', () => {
    const content: ChatMessage['content'] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const wire = { text_content: true };
    expect(sent({ role: 'user', content }, wire)).to.deep.equal({ role: 'user', content: 'a\nb' });
    const image = { type: 'image_url' as const, image_url: { url: 'data:,' } };
    const seen: ChatMessage = { role: 'user', content: [...content, image] };
    expect(sent(seen, wire)).to.deep.equal(seen);
    expect(sent({ role: 'assistant', content: null, tool_calls: [CALL] }, wire)).to.include({
      content: '',
    });
  });
});

describe('marks for the cache on the openai wire', () => {
  const marked: ChatMessage[] = [
    { role: 'system', content: [{ type: 'text', text: 'a', cache_control: MARK }] },
    { role: 'user', content: 'b', cache_control: MARK },
    { role: 'user', content: [{ type: 'text', text: 'c' }], cache_control: MARK },
  ];

  it('stay on the parts where the upstream knows them', () => {
    expect(sentMessages(marked, to({ cache_control: true }))).to.deep.equal({
      messages: ['system', 'user', 'user'].map((role, at) => ({
        role,
        content: [{ type: 'text', text: 'abc'[at], cache_control: MARK }],
      })),
      ignored: [],
    });
  });

  it('are left out elsewhere, and named', () => {
    expect(sentMessages(marked, to())).to.deep.equal({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'a' }] },
        { role: 'user', content: 'b' },
        { role: 'user', content: [{ type: 'text', text: 'c' }] },
      ],
      ignored: ['messages[].content[].cache_control', 'messages[].cache_control'],
    });
  });
});

describe('reasoning of earlier answers on the openai wire', () => {
  const details = [
    { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1' },
  ];
  const said: ChatMessage = { role: 'assistant', content: 'a', reasoning_content: 'Hm.' };
  const signed: ChatMessage = { role: 'assistant', content: 'a', reasoning_details: details };
  const called: ChatMessage = { role: 'assistant', content: null, tool_calls: [CALL] };
  const plain = { role: 'assistant', content: 'a' };

  const cases: [string, unknown, ChatMessage, object][] = [
    ['stays out where nobody asks for it', undefined, said, plain],
    ['stays out with its details', undefined, signed, plain],
    ['goes back as reasoning_content', 'reasoning_content', said, { ...said }],
    [
      'is the text of its details where there is no other',
      'reasoning_content',
      signed,
      { ...plain, reasoning_content: 'Hm.' },
    ],
    ['goes back as reasoning', 'reasoning', said, { ...plain, reasoning: 'Hm.' }],
    [
      'goes back as details to OpenRouter, signatures and all',
      'reasoning_details',
      signed,
      { ...plain, reasoning_details: details },
    ],
    ['has no details to give', 'reasoning_details', said, plain],
    [
      'goes back between tags in the text',
      'think_tags',
      said,
      { role: 'assistant', content: '<think>Hm.</think>\n\na' },
    ],
    [
      'goes back to DeepSeek with tool calls',
      'tool_reasoning_content',
      { ...called, reasoning_content: 'Hm.' },
      { ...called, reasoning_content: 'Hm.' },
    ],
    [
      'is a space at DeepSeek where another model has called the tools, since it is demanded',
      'tool_reasoning_content',
      called,
      { ...called, reasoning_content: ' ' },
    ],
    ['stays out at DeepSeek without tool calls', 'tool_reasoning_content', said, plain],
  ];
  for (const [what, reasoning_back, message, expected] of cases) {
    it(what, () => {
      const wire = reasoning_back === undefined ? {} : { reasoning_back };
      expect(sent(message, wire)).to.deep.equal(expected);
    });
  }
});

describe("thought signatures at Google's compatible endpoint", () => {
  const wire = { thought_signatures: true };
  const calling = (...ids: string[]): ChatMessage => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ ...CALL, id })),
  });
  const extra_content = (thought_signature: string) => ({ google: { thought_signature } });

  it('go back beside the tool call from whose id they are taken', () => {
    const [message] = sentMessages([calling('c1~ts~a-_bcA', 'c2')], to(wire)).messages;
    expect(message).to.deep.equal({
      role: 'assistant',
      content: null,
      tool_calls: [
        { ...CALL, id: 'c1', extra_content: extra_content('a+/bcA==') },
        { ...CALL, id: 'c2' },
      ],
    });
  });

  it('are replaced for Gemini 3 where another model has called the tools', () => {
    const calls = (model: string): object[] | undefined => {
      const [message] = sentMessages([calling('c1', 'c2')], to(wire, model)).messages;
      return (message as { tool_calls?: object[] } | undefined)?.tool_calls;
    };
    expect(calls('gemini-3-pro-preview')?.[0]).to.deep.include({
      extra_content: extra_content('skip_thought_signature_validator'),
    });
    expect(calls('gemini-3-pro-preview')?.[1]).to.not.have.property('extra_content');
    expect(calls('gemini-2.5-flash')?.[0]).to.not.have.property('extra_content');
  });

  it('go back on the message where they came with text', () => {
    const reasoning_details = [
      { type: 'reasoning.text', text: 'Hm.', signature: 'QQ==', format: 'anthropic-claude-v1' },
      { type: 'reasoning.encrypted', data: 'QUJD', format: 'google-gemini-v1' },
    ];
    expect(sent({ role: 'assistant', content: 'a', reasoning_details }, wire)).to.deep.equal({
      role: 'assistant',
      content: 'a',
      extra_content: extra_content('QUJD'),
    });
  });
});
