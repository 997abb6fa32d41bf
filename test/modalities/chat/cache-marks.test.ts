import { expect } from 'chai';
import { chat as bedrock } from '../../../providers/bedrock.js';
import { chat as openai } from '../../../providers/openai.js';
import type { Price } from '../../../src/core/model.js';
import {
  payingMarks,
  paysToCache,
  withCacheMarks,
} from '../../../src/modalities/chat/cache-marks.js';
import { chat as claude } from '../../../providers/anthropic.js';
import type { ChatCall, ChatCodec, MessagesOriginal } from '../../../src/modalities/chat/codec.js';
import { preparedCodec } from '../../../src/modalities/chat/prepared-codec.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { bodyOf, callOf } from '../../helpers/claude.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const MARK = { type: 'ephemeral' } as const;
const PRICE: Price = {
  free: false,
  input_nano_per_million: 100n,
  cache_write_nano_per_million: 125n,
  cached_input_nano_per_million: 10n,
  output_nano_per_million: 500n,
};

const tool = (name: string): object => ({ type: 'function', function: { name, parameters: {} } });
const TOOLS = [tool('look'), tool('write')];
const called = { id: 'c', type: 'function' as const, function: { name: 'look', arguments: '{}' } };
const SAID: readonly ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'developer', content: 'Be kind.' },
  { role: 'user', content: 'Look here.' },
  { role: 'assistant', content: null, tool_calls: [called] },
  { role: 'tool', tool_call_id: 'c', content: 'A gate.' },
];

function marked(call: Partial<ChatCall>, places = { tools: true }): ChatCall {
  return withCacheMarks(callOf(call), places);
}

/** The numbers of the messages that are marked. */
function marksIn({ messages }: ChatCall): number[] {
  return messages.flatMap((message, at) => (message.cache_control ? [at] : []));
}

describe('the cache marks of cache: auto', () => {
  it('stand behind tools and instructions, and where this prompt and the last one end', () => {
    const { tools, system, messages } = bodyOf(
      marked({ messages: SAID, fields: { tools: TOOLS } }),
    );
    expect(tools?.map((one) => one.cache_control)).to.deep.equal([undefined, MARK]);
    expect(system).to.deep.equal([
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.', cache_control: MARK },
    ]);
    const blocks = messages.map(({ content }) => content.map((block) => 'cache_control' in block));
    expect(blocks).to.deep.equal([[true], [false], [true]]);
  });

  const talks: Readonly<Record<string, [ChatMessage['role'][], number[]]>> = {
    'a single call': [['system', 'user'], []],
    'several messages without an answer': [['system', 'user', 'user'], []],
    'the words to go on with in a single call': [['user', 'assistant'], []],
    'a second turn': [
      ['user', 'assistant', 'user'],
      [0, 2],
    ],
    'several results': [
      ['user', 'assistant', 'tool', 'tool', 'user'],
      [0, 4],
    ],
    'several answers in a row': [
      ['system', 'user', 'assistant', 'assistant', 'user'],
      [0, 1, 4],
    ],
    'the words to go on with': [
      ['user', 'assistant', 'user', 'assistant'],
      [0, 2],
    ],
    'an opening of the assistant': [
      ['system', 'assistant', 'user'],
      [0, 2],
    ],
    'instructions in the middle': [
      ['user', 'assistant', 'user', 'system'],
      [0, 2],
    ],
    'no message but instructions': [['system'], []],
  };
  for (const [what, [roles, marks]] of Object.entries(talks)) {
    it(`are ${marks.length} for ${what}`, () => {
      const messages = roles.map((role): ChatMessage => ({ role, content: 'Hi' }));
      expect(marksIn(marked({ messages, is_plain: true }))).to.deep.equal(marks);
    });
  }

  it('are none where the client sends one of its own, wherever it stands', () => {
    const own = { type: 'text' as const, text: 'Hi', cache_control: MARK };
    const block = { type: 'text', text: 'Hi', cache_control: MARK };
    const original: MessagesOriginal = {
      system: [],
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [],
      effort: undefined,
      betas: [],
    };
    const inResult = { type: 'tool_result', tool_use_id: 'c', content: [block] };
    const calls: Partial<ChatCall>[] = [
      { fields: { cache_control: MARK } },
      { fields: { tools: [{ ...tool('look'), cache_control: MARK }] } },
      { messages: [...SAID, { role: 'user', content: 'Hi', cache_control: MARK }] },
      { messages: [...SAID, { role: 'user', content: [own] }] },
      { original: { ...original, system: [block] } },
      { original: { ...original, messages: [{ role: 'user', content: [inResult] }] } },
      { original: { ...original, tools: [{ name: 'look', cache_control: MARK }] } },
    ];
    for (const more of calls) {
      const call = callOf({ messages: SAID, ...more });
      expect(withCacheMarks(call, { tools: true })).to.equal(call);
    }
  });

  it('are none for several choices, which are calls of their own', () => {
    const call = callOf({ messages: SAID, n: 2 });
    expect(withCacheMarks(call, { tools: true })).to.equal(call);
  });

  it('leave out a tool that the upstream runs, and tools that take none', () => {
    const tools = [tool('look'), { type: 'web_search_20260209', name: 'web_search' }];
    expect(marked({ messages: SAID, fields: { tools } }).fields.tools).to.deep.equal(tools);
    const fields = { tools: TOOLS };
    expect(marked({ messages: SAID, fields }, { tools: false }).fields).to.equal(fields);
  });

  it("stand in a request of Claude's own API on blocks that take them", () => {
    const original: MessagesOriginal = {
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: ' ' },
      ],
      messages: [
        { role: 'user', content: 'Look here.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: 'A gate.' },
            { type: 'text', text: '' },
          ],
        },
      ],
      tools: [],
      effort: undefined,
      betas: [],
    };
    const { system, messages } = bodyOf(marked({ messages: SAID, original }));
    expect(system).to.deep.equal([{ type: 'text', text: 'Be brief.', cache_control: MARK }]);
    expect(messages[0]?.content).to.deep.equal([
      { type: 'text', text: 'Look here.', cache_control: MARK },
    ]);
    expect(messages[2]?.content).to.deep.equal([
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [{ type: 'text', text: 'A gate.' }],
        cache_control: MARK,
      },
    ]);
  });

  for (const [model, points] of [
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 4],
    ['amazon.nova-pro-v1:0', 3],
  ] as const) {
    it(`are ${points} cache points for ${model}, and none is named as ignored`, () => {
      const upstream = upstreamAt(providerAt('http://fake.invalid'), { model });
      const places = bedrock.cacheMarks?.(upstream);
      if (!places) throw new Error('It takes no marks.');
      const call = marked({ messages: SAID, fields: { tools: TOOLS } }, places);
      const { body, ignored } = preparedCodec(bedrock).encode(call, upstream);
      expect(JSON.stringify(body).split('cachePoint')).to.have.length(points + 1);
      expect(ignored).to.deep.equal([]);
    });
  }
});

describe('whether cache marks pay', () => {
  const at = (codec: ChatCodec, more: Parameters<typeof upstreamAt>[1] = {}) => {
    const operations = new Map([['chat', { path: '/', codec, max: 1 }]]);
    const provider = providerAt('http://fake.invalid', { operations } as object);
    return upstreamAt(provider, { model: 'claude-sonnet-4-5', price: PRICE, ...more });
  };

  it('is told by the prices of what is written and read', () => {
    const { cache_write_nano_per_million: _, ...unwritten } = PRICE;
    const { cached_input_nano_per_million: _read, ...unread } = PRICE;
    expect(paysToCache(PRICE)).to.equal(true);
    expect(paysToCache(unwritten)).to.equal(false);
    expect(paysToCache(unread)).to.equal(false);
    expect(paysToCache({ ...PRICE, cache_write_nano_per_million: 190n })).to.equal(false);
    expect(paysToCache({ ...PRICE, cache_write_nano_per_million: 189n })).to.equal(true);
    const long = { above_tokens: 9, cached_input_nano_per_million: 80n };
    expect(paysToCache({ ...PRICE, long_prompt: long })).to.equal(false);
  });

  it('is no where the wire takes none, or the operator sets or drops them', () => {
    expect(payingMarks(at(claude))).to.deep.equal({ tools: true });
    expect(payingMarks(at(openai))).to.equal(undefined);
    expect(payingMarks(at(bedrock, { model: 'meta.llama4' }))).to.equal(undefined);
    expect(payingMarks(at(claude, { set: { cache_control: MARK } }))).to.equal(undefined);
    expect(payingMarks(at(claude, { drop: ['cache_control'] }))).to.equal(undefined);
  });
});
