import { expect } from 'chai';
import { chat as wire_codec } from '../../../providers/bedrock.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';
import { preparedCodec } from '../../../src/modalities/chat/prepared-codec.js';

const chat = preparedCodec(wire_codec);

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const LLAMA = 'meta.llama3-2-1b-instruct-v1:0';
const NOW = { type: 'function', function: { name: 'now' } };

interface Said {
  system: unknown;
  messages: { role: string; content: Record<string, unknown>[] }[];
  ignored: readonly string[];
}

function say(
  messages: readonly ChatMessage[],
  model = CLAUDE,
  fields: ChatCall['fields'] = {},
): Said {
  const call: ChatCall = {
    messages,
    stream: false,
    n: 1,
    max_tokens: 4_000,
    fields: { tools: [NOW], ...fields },
  };
  const { body, ignored = [] } = chat.encode(
    call,
    upstreamAt(providerAt('http://fake.invalid'), { model }),
  );
  return { system: body.system, messages: body.messages as Said['messages'], ignored };
}

/** The error with which a request is refused, as its fault and the field it names. */
function refusal(content: ChatMessage['content']): unknown {
  try {
    say([
      { role: 'user', content: 'Hi' },
      { role: 'user', content: content ?? null },
    ]);
    return undefined;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return [error.fault, error.param];
  }
}

const called = (
  id: string,
  name = 'now',
  args = '{}',
): NonNullable<ChatMessage['tool_calls']>[0] => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const image = (type: string): NonNullable<Exclude<ChatMessage['content'], string | null>>[0] => ({
  type: 'image_url',
  image_url: { url: `data:${type};base64,aGk=` },
});
const file = (filename: string, type = 'application/pdf') => ({
  type: 'file' as const,
  file: { filename, file_data: `data:${type};base64,aGk=` },
});

describe('messages of Converse', () => {
  it('have system prompts apart, wherever they stood', () => {
    const { system, messages } = say([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
    ]);
    expect(system).to.deep.equal([{ text: 'Be brief.' }, { text: 'Be kind.' }]);
    expect(messages).to.deep.equal([{ role: 'user', content: [{ text: 'Hi' }] }]);
  });

  it('alternate, so that turns of one side are merged', () => {
    const { messages } = say([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'c' },
      { role: 'assistant', content: 'd' },
      { role: 'user', content: 'e' },
    ]);
    expect(
      messages.map(({ role, content }) => [role, content.map(({ text }) => text)]),
    ).to.deep.equal([
      ['user', ['a', 'b']],
      ['assistant', ['c', 'd']],
      ['user', ['e']],
    ]);
  });

  it('begin with the user even where the client begins with the assistant, or has no one', () => {
    expect(say([{ role: 'assistant', content: 'Hello!' }]).messages[0]?.role).to.equal('user');
    const { messages } = say([{ role: 'system', content: 'Tell a joke.' }]);
    expect(messages.map(({ role }) => role)).to.deep.equal(['user']);
  });

  it('have images and files behind the results at models that take none inside', () => {
    const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=' };
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
    const messages: ChatMessage[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [called('a'), called('b')] },
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [
          { type: 'text', text: 'seen' },
          { type: 'image_url', image_url },
        ],
      },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'file', file }] },
    ];
    const kinds = (blocks: unknown): string[] =>
      (blocks as object[]).flatMap((block) => Object.keys(block));
    const resultsAt = (model: string): string[] => {
      const { content = [] } = say(messages, model).messages[2] ?? {};
      return content.flatMap(({ toolResult, ...other }) =>
        toolResult
          ? [kinds((toolResult as { content: unknown }).content).join('+')]
          : Object.keys(other),
      );
    };
    for (const model of [CLAUDE, 'amazon.nova-pro-v1:0']) {
      expect(resultsAt(model)).to.deep.equal(['text+image', 'document']);
    }
    for (const model of ['mistral.pixtral-large-2502-v1:0', 'openai.gpt-oss-120b-1:0']) {
      const behind = ['text', 'image', 'text', 'document'];
      expect(resultsAt(model)).to.deep.equal(['text', 'text', ...behind]);
    }
  });

  it('hold no blank text, and no turn of nothing (quirk 30)', () => {
    const { messages } = say([
      {
        role: 'user',
        content: [
          { type: 'text', text: ' \n' },
          { type: 'text', text: 'Hi' },
        ],
      },
      { role: 'assistant', content: '' },
      { role: 'user', content: '?' },
      { role: 'assistant', content: '', tool_calls: [called('a')] },
      { role: 'tool', tool_call_id: 'a', content: '' },
    ]);
    expect(messages).to.deep.equal([
      { role: 'user', content: [{ text: 'Hi' }, { text: '?' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'now', input: {} } }] },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 'a', content: [{ text: '(empty)' }] } }],
      },
    ]);
  });

  it('are refused as unsupported where a new Claude model is to go on with its own words', () => {
    const turns: ChatMessage[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'The answer is' },
    ];
    expect(() => say(turns, 'us.anthropic.claude-sonnet-4-6'))
      .to.throw(UpstreamError)
      .that.includes({ fault: 'unsupported', param: 'messages' });
  });

  it('end without white space where the assistant is to go on', () => {
    const { messages } = say([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'The answer is ' },
    ]);
    expect(messages[1]?.content).to.deep.equal([{ text: 'The answer is' }]);
  });

  it('put all results of a turn before its text, in one message', () => {
    const { messages } = say([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Wait.', tool_calls: [called('a'), called('b')] },
      { role: 'user', content: 'Still there?' },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [{ type: 'text', text: '2' }, image('image/png')],
      },
    ]);
    expect(messages[2]).to.deep.equal({
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'a', content: [{ text: '1' }] } },
        {
          toolResult: {
            toolUseId: 'b',
            content: [{ text: '2' }, { image: { format: 'png', source: { bytes: 'aGk=' } } }],
          },
        },
        { text: 'Still there?' },
      ],
    });
  });

  it('have arguments as objects, whatever an earlier model wrote', () => {
    const inputs = ['{"a":1}', '', '[1]', '{"a":'].map((args) => {
      const { messages } = say([
        { role: 'assistant', content: null, tool_calls: [called('a', 'now', args)] },
      ]);
      const use = messages[1]?.content[0]?.toolUse as Record<string, unknown> | undefined;
      return use?.input;
    });
    expect(inputs).to.deep.equal([{ a: 1 }, {}, { arguments: [1] }, { arguments: '{"a":' }]);
  });

  it('say foreign ids of calls by sound ones, the same at both ends, never two by one', () => {
    const ids = ['functions.now:0', 'functions.now_0', 'x'.repeat(65), 'call_1~ts~c2ln', ''];
    const { messages } = say([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: ids.map((id) => called(id)) },
      ...ids.map((id): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'x' })),
    ]);
    const idsIn = (at: number, kind: string): unknown[] =>
      (messages[at]?.content ?? []).map(
        (block) => (block[kind] as { toolUseId: unknown }).toolUseId,
      );
    const sent = idsIn(1, 'toolUse');
    expect(idsIn(2, 'toolResult')).to.deep.equal(sent);
    expect(new Set(sent).size).to.equal(ids.length);
    for (const id of sent) expect(id).to.match(/^[a-zA-Z0-9_-]{1,64}$/u);
    expect(sent[3]).to.equal('call_1');
  });

  it('send signed reasoning back to Claude as it came, whole or in the pieces of a stream', () => {
    const format = 'anthropic-claude-v1';
    const due = [
      { reasoningContent: { reasoningText: { text: 'First, rain.', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'aGlkZGVu' } },
      { text: 'Wet.' },
    ];
    const hidden = { type: 'reasoning.encrypted', data: 'aGlkZGVu', format, index: 1 };
    const whole = { type: 'reasoning.text', text: 'First, rain.', signature: 'c2ln', format };
    const pieces = [
      { type: 'reasoning.text', text: 'First, ', format, index: 0 },
      { type: 'reasoning.text', text: 'rain.', format, index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', format, index: 0 },
    ];
    for (const text of [[{ ...whole, index: 0 }], pieces]) {
      const turns: ChatMessage[] = [
        { role: 'user', content: 'Rain?' },
        { role: 'assistant', content: 'Wet.', reasoning_details: [...text, hidden] },
        { role: 'user', content: 'Sure?' },
      ];
      const { messages } = say(turns, CLAUDE, { reasoning_effort: 'high' });
      expect(messages[1]?.content).to.deep.equal(due);
      const set = { additionalModelRequestFields: { thinking: { type: 'adaptive' } } };
      expect(say(turns, CLAUDE, set).messages[1]?.content).to.deep.equal(due);
      const [unasked] = say(turns).messages.slice(1);
      expect(unasked?.content, 'where it does not think').to.deep.equal([{ text: 'Wet.' }]);
    }
  });

  it('leave reasoning of other upstreams out, and what no one has signed', () => {
    const turns: ChatMessage[] = [
      { role: 'user', content: 'Rain?' },
      {
        role: 'assistant',
        content: 'Wet.',
        reasoning_content: 'Unsigned.',
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'x', format: 'google-gemini-v1', index: 0 },
          { type: 'reasoning.text', text: 'no name', signature: 's', index: 1 },
          { type: 'reasoning.text', text: 'Unsigned.', format: 'anthropic-claude-v1', index: 2 },
        ],
      },
      { role: 'user', content: 'Sure?' },
    ];
    const { messages } = say(turns, CLAUDE, { reasoning_effort: 'high' });
    expect(messages[1]?.content).to.deep.equal([{ text: 'Wet.' }]);
  });

  it('mark for the cache what the client marks, where the model knows marks', () => {
    const cache_control = { type: 'ephemeral' };
    const messages: ChatMessage[] = [
      { role: 'system', content: 'Be brief.', cache_control },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Long.', cache_control },
          { type: 'text', text: 'Hi' },
        ],
      },
    ];
    const cachePoint = { type: 'default' };
    const claude = say(messages);
    expect(claude.system).to.deep.equal([{ text: 'Be brief.' }, { cachePoint }]);
    expect(claude.messages[0]?.content).to.deep.equal([
      { text: 'Long.' },
      { cachePoint },
      { text: 'Hi' },
    ]);
    expect(claude.ignored).to.deep.equal([]);
    const llama = say(messages, LLAMA);
    expect(JSON.stringify(llama)).to.not.include('cachePoint');
    expect(llama.ignored).to.deep.equal(['cache_control']);
  });

  it('name the names of participants, which Converse has no place for', () => {
    expect(say([{ role: 'user', content: 'Hi', name: 'Ann' }]).ignored).to.deep.equal([
      'messages[].name',
    ]);
  });
});

describe('images and files in messages of Converse', () => {
  it('go as bytes with their format', () => {
    const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
    const { messages } = say([{ role: 'user', content: types.map(image) }]);
    const formats = messages[0]?.content.map((block) => (block.image as { format: string }).format);
    expect(formats).to.deep.equal(['png', 'jpeg', 'gif', 'webp']);
  });

  it('have names without what Converse refuses, each its own, and a text beside them', () => {
    const names = ['Q3/report_v2.pdf', 'Q3 report v2.pdf', 'Überblick.pdf', '.pdf'];
    const { messages } = say([{ role: 'user', content: names.map((name) => file(name)) }]);
    const content = messages[0]?.content ?? [];
    const said = content.flatMap(({ document }) =>
      document ? [document as { name: string }] : [],
    );
    expect(said.map(({ name }) => name)).to.deep.equal([
      'Q3 report v2',
      'Q3 report v2 (2)',
      'berblick',
      'document',
    ]);
    expect(said[0]).to.deep.equal({
      format: 'pdf',
      name: 'Q3 report v2',
      source: { bytes: 'aGk=' },
    });
    expect(content.at(-1)).to.deep.equal({ text: 'Document: Q3 report v2' });
  });

  it('may be told by the name of the file where its type says nothing', () => {
    const { messages } = say([
      {
        role: 'user',
        content: [file('a.md', 'application/octet-stream'), { type: 'text', text: 'Sum up.' }],
      },
    ]);
    expect(messages[0]?.content).to.deep.equal([
      { document: { format: 'md', name: 'a', source: { bytes: 'aGk=' } } },
      { text: 'Sum up.' },
    ]);
  });

  const refused: [string, ChatMessage['content'], string][] = [
    [
      'sound',
      [{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } }],
      'input_audio',
    ],
    ['an image of another type', [image('image/tiff')], 'image_url.url'],
    [
      'an address of an image',
      [{ type: 'image_url', image_url: { url: 'https://a.invalid/b.png' } }],
      'image_url.url',
    ],
    ['a file of another type', [file('a.zip', 'application/zip')], 'file'],
    [
      'a file that another upstream keeps',
      [{ type: 'file', file: { file_id: 'file-1' } }],
      'file.file_id',
    ],
  ];
  for (const [what, content, param] of refused) {
    it(`are refused as unsupported where there is ${what}, which another upstream may take`, () => {
      expect(refusal(content)).to.deep.equal(['unsupported', `messages[1].content[0].${param}`]);
    });
  }
});
