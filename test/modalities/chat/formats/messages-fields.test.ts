import { expect } from 'chai';
import { ask, type Answer } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../../../helpers/upstream.js';

/** A body of less than 64 kB may be nested as deep as this. */
const DEEP = JSON.parse('{"a":'.repeat(300) + '1' + '}'.repeat(300)) as object;

type Outcome = 'honoured' | 'translated' | 'ignored and named' | 'refused';

/** What becomes of a field: a part of the body or headers that go out, or of the answer. */
interface Fate {
  is: Outcome;
  /** Parts of the upstream's body, by their paths. */
  sent?: Readonly<Record<string, unknown>>;
  beta?: string;
  /** In the header `tollgate-ignored`. */
  named?: string;
  /** In the words of the refusal. */
  says?: string;
}

interface Row {
  field: string;
  body: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  /** In place of a new Claude. */
  model?: 'claude-older';
  claude: Fate;
  others: Fate;
}

const CACHE = { cache_control: { type: 'ephemeral' } };
const PNG = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const PNG_URL = 'data:image/png;base64,iVBORw0KGgo=';
const SCHEMA = {
  type: 'object',
  properties: { title: { type: 'string' } },
  required: ['title'],
  additionalProperties: false,
};
const LOOK = { name: 'look', input_schema: { type: 'object', properties: {} } };
const PLACEHOLDER = { ...LOOK, name: 'DeferredToolPlaceholder', defer_loading: true };
const USE = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } };
const BETAS = { 'anthropic-beta': 'advanced-tool-use-2025-11-20,effort-2025-11-24' };

const text = (said: string, more = {}): object => ({ type: 'text', text: said, ...more });
const user = (...content: object[]): object => ({ role: 'user', content });
const HI = user(text('Hi'));
/** A conversation in which a tool was called, and the user's answer to that. */
const round = (...content: object[]): Row['body'] => ({
  tools: [LOOK],
  messages: [HI, { role: 'assistant', content: [USE] }, user(...content)],
});
const result = (more = {}): Record<string, unknown> => ({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  ...more,
});
const named = (name: string): Fate => ({ is: 'ignored and named', named: name });
const same = (is: Outcome, sent: Readonly<Record<string, unknown>>) => ({
  claude: { is, sent },
  others: { is, sent },
});
const both = (fate: Fate): Pick<Row, 'claude' | 'others'> => ({ claude: fate, others: fate });

/** Fields of a later version, within those that are known: they were left out without a word. */
const UNKNOWN: readonly [field: string, body: Row['body']][] = [
  ['messages[].later', { messages: [{ ...HI, later: 1 }] }],
  ['thinking.later', { thinking: { type: 'adaptive', later: 1 } }],
];

/** A mark that makes a write to the cache dearer, where nothing reads it. */
const HIDDEN = { items: [{ cacheControl: { type: 'ephemeral', ttl: '1h' } }] };
const MARKED: readonly [field: string, body: Row['body']][] = [
  ['later', { later: HIDDEN }],
  ['metadata.later', { metadata: { later: HIDDEN } }],
  ['messages[].content[].later', { messages: [user(text('Hi', { later: HIDDEN }))] }],
  ['system[].later', { system: [text('Be brief.', { later: HIDDEN })] }],
];

/** Fields of a later version that only Claude gets: none of them raises the cost. */
const CARRIED: readonly [
  field: string,
  body: Row['body'],
  sent: Readonly<Record<string, unknown>>,
][] = [
  ['later', { later: { mode: 'x' } }, { later: { mode: 'x' } }],
  [
    'output_config.later',
    { output_config: { effort: 'low', later: 1 } },
    { output_config: { later: 1, effort: 'low' } },
  ],
  ['metadata.later', { metadata: { later: 'x' } }, { metadata: { later: 'x' } }],
  [
    'messages[].content[].later',
    { messages: [user(text('Hi', { later: { a: [1] } }))] },
    { 'messages.0.content.0': text('Hi', { later: { a: [1] } }) },
  ],
  [
    'messages[].content[].content[].later',
    round(result({ content: [text('A cat.', { later: 1 })] })),
    { 'messages.2.content.0.content.0': text('A cat.', { later: 1 }) },
  ],
  [
    'system[].later',
    { system: [text('Be brief.', { later: 1 })] },
    { 'system.0': text('Be brief.', { later: 1 }) },
  ],
  [
    'tools[].later',
    { tools: [{ name: 'look', input_schema: { type: 'object', properties: {} }, later: [1] }] },
    { 'tools.0.later': [1] },
  ],
];
/** Fields that raise the cost, or that would let the upstream work on its own. */
const COSTLY: readonly Row['body'][] = [
  { service_tier: 'priority' },
  { speed: 'fast' },
  { inference_geo: 'us' },
  { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] },
  { container: 'c' },
  { serviceTier: 'priority' },
];

const ROWS: readonly Row[] = [
  { field: 'max_tokens', body: { max_tokens: 99 }, ...same('honoured', { max_tokens: 99 }) },
  {
    field: 'max_tokens above the limit',
    body: { max_tokens: 32_000 },
    ...both({ is: 'refused', says: 'max_tokens: 32000 > 9000, which is the maximum allowed' }),
  },
  {
    field: 'system, with cache_control',
    body: { system: [text('Be brief.', CACHE)] },
    claude: { is: 'honoured', sent: { system: [text('Be brief.', CACHE)] } },
    others: {
      is: 'translated',
      sent: { 'messages.0.content.0.text': 'Be brief.' },
      named: 'messages[].content[].cache_control',
    },
  },
  {
    field: 'messages[].role system, after the user',
    body: { messages: [HI, { role: 'system', content: 'New tools.' }] },
    claude: {
      is: 'honoured',
      sent: { 'messages.1': { role: 'system', content: [text('New tools.')] } },
    },
    others: { is: 'honoured', sent: { 'messages.1': { role: 'system', content: 'New tools.' } } },
  },
  {
    field: 'the same, to an older Claude',
    model: 'claude-older',
    body: { messages: [HI, { role: 'system', content: [text('New tools.', CACHE)] }] },
    claude: {
      is: 'translated',
      sent: { 'messages.0.content.1': text('<system>\nNew tools.\n</system>', CACHE) },
    },
    others: {
      is: 'honoured',
      sent: { 'messages.1.role': 'system' },
      named: 'messages[].content[].cache_control',
    },
  },
  {
    field: 'text, with cache_control',
    body: { messages: [user(text('Hi', CACHE))] },
    claude: { is: 'honoured', sent: { 'messages.0.content': [text('Hi', CACHE)] } },
    others: named('messages[].content[].cache_control'),
  },
  {
    field: 'cache_control.ttl of an hour',
    body: { messages: [user(text('Hi', { cache_control: { type: 'ephemeral', ttl: '1h' } }))] },
    claude: named('cache_control.ttl'),
    others: named('messages[].content[].cache_control'),
  },
  {
    field: 'image',
    body: { messages: [user({ type: 'image', source: PNG })] },
    claude: {
      is: 'honoured',
      sent: { 'messages.0.content.0': { type: 'image', source: PNG } },
    },
    others: { is: 'translated', sent: { 'messages.0.content.0.image_url.url': PNG_URL } },
  },
  {
    field: 'image by its URL',
    body: {
      messages: [user({ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } })],
    },
    claude: {
      is: 'honoured',
      sent: { 'messages.0.content.0.source': { type: 'url', url: 'https://a.example/b.png' } },
    },
    others: {
      is: 'translated',
      sent: { 'messages.0.content.0.image_url.url': 'https://a.example/b.png' },
    },
  },
  {
    field: 'image by the ID of a file',
    body: { messages: [user({ type: 'image', source: { type: 'file', file_id: 'file_1' } })] },
    ...both({ is: 'refused', says: 'by the ID of a file' }),
  },
  {
    field: 'document of text, with title and context',
    body: {
      messages: [
        user({
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'Rain.' },
          title: 'Weather',
          context: 'Of Oslo.',
        }),
      ],
    },
    claude: {
      is: 'honoured',
      sent: {
        'messages.0.content.0': {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'Rain.' },
          title: 'Weather',
          context: 'Of Oslo.',
        },
      },
    },
    others: {
      is: 'translated',
      sent: { 'messages.0.content': 'Weather\nOf Oslo.\n\nRain.' },
    },
  },
  {
    field: 'a field of a block that would cost more',
    body: { messages: [user(text('Hi', { serviceTier: 'priority' }))] },
    ...both(named('messages[].content[].serviceTier')),
  },
  {
    field: 'document with citations, which were left out without a word',
    body: {
      messages: [
        user({
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'Rain.' },
          citations: { enabled: true },
        }),
      ],
    },
    ...both(named('messages[].content[].citations')),
  },
  ...UNKNOWN.map(([field, body]) => ({ field, body, ...both(named(field)) })),
  ...MARKED.map(([field, body]) => ({
    field: `${field}, with a mark for the cache inside`,
    body,
    ...both(named(field)),
  })),
  ...CARRIED.map(([field, body, sent]) => ({
    field,
    body,
    claude: { is: 'honoured' as const, sent },
    others: named(field),
  })),
  ...COSTLY.map((body) => {
    const [field = ''] = Object.keys(body);
    return { field, body, ...both(named(field)) };
  }),
  {
    field: 'search_result',
    body: {
      messages: [
        user({
          type: 'search_result',
          source: 'https://a.example',
          title: 'A',
          content: [text('Found.')],
        }),
      ],
    },
    claude: {
      is: 'honoured',
      sent: {
        'messages.0.content.0': {
          type: 'search_result',
          source: 'https://a.example',
          title: 'A',
          content: [text('Found.')],
        },
      },
    },
    others: {
      is: 'translated',
      sent: { 'messages.0.content': 'A\nhttps://a.example\nFound.' },
    },
  },
  {
    field: 'a block of an unknown type',
    body: { messages: [user({ type: 'news', text: 'It rains.' })] },
    claude: { is: 'translated', sent: { 'messages.0.content': [text('It rains.')] } },
    others: { is: 'translated', sent: { 'messages.0.content': 'It rains.' } },
  },
  {
    field: 'a block that no assistant says',
    body: { messages: [HI, { role: 'assistant', content: [{ type: 'news', text: 'x' }] }, HI] },
    ...both(named('messages[].content[].news')),
  },
  {
    field: 'document of blocks, one of them an image',
    body: {
      messages: [
        user({
          type: 'document',
          source: { type: 'content', content: [text('Rain.'), { type: 'image', source: PNG }] },
        }),
      ],
    },
    claude: {
      is: 'honoured',
      sent: {
        'messages.0.content.0.source.content': [text('Rain.'), { type: 'image', source: PNG }],
      },
    },
    others: { is: 'translated', sent: { 'messages.0.content.1.image_url.url': PNG_URL } },
  },
  {
    field: 'tool_use, with cache_control',
    body: {
      tools: [LOOK],
      messages: [
        HI,
        { role: 'assistant', content: [text('I look.'), { ...USE, ...CACHE }] },
        user(result({ content: 'A cat.' })),
      ],
    },
    claude: {
      is: 'honoured',
      sent: { 'messages.1.content': [text('I look.'), { ...USE, ...CACHE }] },
    },
    others: {
      is: 'translated',
      sent: { 'messages.1.tool_calls.0.function': { name: 'look', arguments: '{"at":"it"}' } },
      named: 'messages[].content[].cache_control',
    },
  },
  {
    field: 'thinking and text between tool calls, in their order',
    body: {
      tools: [LOOK],
      thinking: { type: 'adaptive' },
      messages: [
        HI,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
            text('I look.'),
            { type: 'redacted_thinking', data: 'c2VjcmV0' },
            USE,
          ],
        },
        user(result({ content: 'A cat.' })),
      ],
    },
    claude: {
      is: 'honoured',
      sent: {
        'messages.1.content': [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
          text('I look.'),
          { type: 'redacted_thinking', data: 'c2VjcmV0' },
          USE,
        ],
      },
    },
    others: { is: 'translated', sent: { 'messages.1.content': 'I look.' } },
  },
  {
    field: 'two results and a text in one message',
    body: {
      tools: [LOOK],
      messages: [
        HI,
        { role: 'assistant', content: [USE, { ...USE, id: 'toolu_2' }] },
        user(
          result({ content: 'A cat.' }),
          result({ tool_use_id: 'toolu_2', content: 'A dog.', ...CACHE }),
          text('Go on.'),
        ),
      ],
    },
    claude: {
      is: 'honoured',
      sent: {
        'messages.2.content': [
          result({ content: [text('A cat.')] }),
          result({ tool_use_id: 'toolu_2', content: [text('A dog.')], ...CACHE }),
          text('Go on.'),
        ],
      },
    },
    others: {
      is: 'translated',
      sent: {
        'messages.2': { role: 'tool', tool_call_id: 'toolu_1', content: 'A cat.' },
        'messages.3': { role: 'tool', tool_call_id: 'toolu_2', content: 'A dog.' },
        'messages.4': { role: 'user', content: 'Go on.' },
      },
      named: 'messages[].content[].cache_control',
    },
  },
  {
    field: 'tool_result.is_error',
    body: round(result({ content: 'No such file.', is_error: true })),
    claude: {
      is: 'honoured',
      sent: {
        'messages.2.content.0': result({ content: [text('No such file.')], is_error: true }),
      },
    },
    others: {
      is: 'translated',
      sent: { 'messages.2.content': 'The tool failed:\n\nNo such file.' },
    },
  },
  {
    field: 'tool_result with an image',
    body: round(result({ content: [{ type: 'image', source: PNG }] })),
    claude: {
      is: 'honoured',
      sent: { 'messages.2.content.0': result({ content: [{ type: 'image', source: PNG }] }) },
    },
    others: {
      is: 'translated',
      sent: {
        'messages.2.content': 'The result follows.',
        'messages.3.content.1.image_url.url': PNG_URL,
      },
    },
  },
  {
    field: 'tool_result of tool_reference, tools with defer_loading',
    headers: BETAS,
    body: {
      ...round(result({ content: [{ type: 'tool_reference', tool_name: 'look' }] })),
      tools: [{ ...LOOK, defer_loading: true }],
    },
    claude: {
      is: 'honoured',
      sent: {
        'messages.2.content.0.content': [{ type: 'tool_reference', tool_name: 'look' }],
        tools: [{ ...LOOK, defer_loading: true }],
      },
      beta: BETAS['anthropic-beta'],
    },
    others: {
      is: 'translated',
      sent: {
        'messages.2.content': 'The tool look can be called now.',
        'tools.0.function.name': 'look',
      },
    },
  },
  {
    field: 'tools: the placeholder of those that come later',
    headers: BETAS,
    body: { tools: [LOOK, PLACEHOLDER] },
    claude: { is: 'honoured', sent: { tools: [LOOK, PLACEHOLDER] } },
    others: {
      is: 'translated',
      sent: {
        tools: [{ type: 'function', function: { name: 'look', parameters: LOOK.input_schema } }],
      },
    },
  },
  {
    field: 'tools[].cache_control, eager_input_streaming and input_examples',
    headers: BETAS,
    body: {
      tools: [{ ...LOOK, ...CACHE, eager_input_streaming: true, input_examples: [{ at: 'it' }] }],
    },
    claude: {
      is: 'honoured',
      sent: {
        'tools.0': {
          ...LOOK,
          ...CACHE,
          eager_input_streaming: true,
          input_examples: [{ at: 'it' }],
        },
      },
    },
    others: {
      is: 'translated',
      sent: { 'tools.0.function.parameters.examples': [{ at: 'it' }] },
      named: 'tools[].cache_control',
    },
  },
  {
    field: 'messages nested deep, which gave a 500',
    body: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: DEEP }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
      ],
    },
    ...both({ is: 'refused', says: 'must not be nested more than 200 levels deep' }),
  },
  {
    field: 'tools of types that the upstream runs itself',
    body: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    ...both(named('tools[].web_search_20250305')),
  },
  {
    field: 'tool_choice and disable_parallel_tool_use',
    model: 'claude-older',
    body: { tools: [LOOK], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    claude: {
      is: 'honoured',
      sent: { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    },
    others: { is: 'translated', sent: { tool_choice: 'required', parallel_tool_calls: false } },
  },
  {
    field: 'thinking: adaptive, with display',
    body: { thinking: { type: 'adaptive', display: 'omitted' } },
    claude: { is: 'honoured', sent: { thinking: { type: 'adaptive', display: 'omitted' } } },
    others: named('thinking.display'),
  },
  {
    field: 'thinking: enabled, with budget_tokens',
    model: 'claude-older',
    body: { thinking: { type: 'enabled', budget_tokens: 5_000 }, max_tokens: 8_000 },
    claude: { is: 'honoured', sent: { thinking: { type: 'enabled', budget_tokens: 5_000 } } },
    others: { is: 'translated', sent: { reasoning_effort: 'medium' } },
  },
  {
    field: 'thinking: disabled',
    body: { thinking: { type: 'disabled' } },
    claude: { is: 'honoured', sent: { thinking: { type: 'disabled' } } },
    others: { is: 'translated', sent: { reasoning_effort: 'none' } },
  },
  {
    field: 'thinking: between_tools',
    body: { thinking: { type: 'between_tools' } },
    claude: { is: 'honoured', sent: { thinking: { type: 'between_tools' } } },
    others: named('thinking.type'),
  },
  {
    field: 'thinking of an unknown type',
    body: { thinking: { type: 'bogus' } },
    ...both({ is: 'refused', says: 'thinking.type must be one of' }),
  },
  {
    field: 'output_config.effort',
    body: { output_config: { effort: 'max' } },
    claude: { is: 'honoured', sent: { output_config: { effort: 'max' } } },
    others: { is: 'translated', sent: { reasoning_effort: 'xhigh' } },
  },
  {
    field: 'output_config.format',
    body: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    claude: {
      is: 'honoured',
      sent: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    },
    others: { is: 'translated', sent: { 'response_format.json_schema.schema': SCHEMA } },
  },
  {
    field: 'output_format, the older name of output_config.format',
    body: { output_format: { type: 'json_schema', schema: SCHEMA } },
    claude: {
      is: 'honoured',
      sent: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    },
    others: { is: 'translated', sent: { 'response_format.json_schema.schema': SCHEMA } },
  },
  {
    field: 'context_management that clears',
    body: { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
    claude: {
      is: 'honoured',
      sent: { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
      beta: 'context-management-2025-06-27',
    },
    others: named('context_management'),
  },
  {
    field: 'context_management that sums up, which is a call of its own',
    body: { context_management: { edits: [{ type: 'compact_20260112' }] } },
    ...both(named('context_management')),
  },
  {
    field: 'metadata.user_id',
    body: { metadata: { user_id: '{"device_id":"d"}' } },
    claude: { is: 'honoured', sent: { metadata: { user_id: '{"device_id":"d"}' } } },
    others: { is: 'translated', sent: { user: '{"device_id":"d"}' } },
  },
  {
    field: 'stop_sequences',
    body: { stop_sequences: ['END'] },
    claude: { is: 'honoured', sent: { stop_sequences: ['END'] } },
    others: { is: 'translated', sent: { stop: ['END'] } },
  },
  {
    field: 'temperature',
    model: 'claude-older',
    body: { temperature: 0.3 },
    ...same('honoured', { temperature: 0.3 }),
  },
  {
    field: 'temperature, to a Claude that refuses it',
    body: { temperature: 0.3 },
    claude: named('temperature'),
    others: { is: 'honoured', sent: { temperature: 0.3 } },
  },
  {
    field: 'top_k',
    model: 'claude-older',
    body: { top_k: 5 },
    claude: { is: 'honoured', sent: { top_k: 5 } },
    others: named('top_k'),
  },
  {
    field: 'anthropic-beta: features',
    body: {},
    headers: { 'anthropic-beta': 'claude-code-20250219, interleaved-thinking-2025-05-14' },
    claude: { is: 'honoured', beta: 'claude-code-20250219,interleaved-thinking-2025-05-14' },
    others: { is: 'translated', sent: {} },
  },
  {
    field: 'anthropic-beta: features that make tokens dearer',
    body: {},
    headers: { 'anthropic-beta': 'context-1m-2025-08-07,claude-code-20250219' },
    claude: { is: 'ignored and named', beta: 'claude-code-20250219', named: 'anthropic-beta' },
    others: { is: 'translated', sent: {} },
  },
  ...[
    'fast-mode-2026-02-01',
    'compact-2026-09-04',
    'mcp-client-2025-11-20',
    'files-api-2025-04-14',
    'skills-2025-10-02',
  ].map((beta) => ({
    field: `anthropic-beta: ${beta}, which moves the bill or needs what is kept`,
    body: {},
    headers: { 'anthropic-beta': `safeguards-2027-01-01,${beta}` },
    claude: {
      is: 'ignored and named' as const,
      beta: 'safeguards-2027-01-01',
      named: 'anthropic-beta',
    },
    others: { is: 'translated' as const, sent: {} },
  })),
  ...['service_tier', 'container', 'mcp_servers', 'inference_geo', 'speed', 'n'].map((field) => ({
    field,
    body: { [field]: 'any' },
    ...both(named(field)),
  })),
];

const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Good day.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 5 },
};

describe('the fields of POST /v1/messages', () => {
  let claude: FakeUpstream;
  let acme: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    const headers = { 'content-type': 'application/json' };
    claude = await startUpstream({ headers, body: JSON.stringify(ANSWER) });
    acme = await startUpstream((_, response) => play(chatJson('Good day.'), response));
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant-secret }
  acme: { uses: openai, base_url: '${acme.url}', api_key: sk-acme-secret }
models:
  claude:
    &model { owner: acme, capabilities: [chat, vision, tools, file], upstreams: [{ provider: claude, model: claude-opus-5 }], limits: { max_tokens: 9000, context: 200000 }, price: { input_per_million: 1, output_per_million: 2 } }
  claude-older: { <<: *model, upstreams: [{ provider: claude, model: claude-sonnet-4-5 }] }
  acme: { <<: *model, upstreams: [{ provider: acme }] }
`);
  });
  after(async () => {
    await gateway.close();
    await Promise.all([claude.close(), acme.close()]);
  });

  const post = (model: string, { body, headers }: Row): Promise<Answer> =>
    ask(gateway, '/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, max_tokens: 100, messages: [HI], ...body }),
    });

  const expectFate = (fate: Fate, answer: Answer, upstream: FakeUpstream): void => {
    const { status, text: said } = answer;
    expect(status, said).to.equal(fate.is === 'refused' ? 400 : 200);
    if (fate.says) expect(said).to.include(fate.says);
    if (fate.is === 'refused') return;
    expect(answer.headers.get('tollgate-ignored')).to.equal(fate.named ?? null);
    const [last] = upstream.requests.slice(-1);
    for (const [path, value] of Object.entries(fate.sent ?? {})) {
      expect(last?.json).to.have.nested.property(path);
      expect(valueAt(last?.json, path), path).to.deep.equal(value);
    }
    if (fate.beta) expect(last?.headers['anthropic-beta']).to.equal(fate.beta);
  };

  for (const row of ROWS) {
    const { field, claude: at_claude, others, model = 'claude' } = row;
    it(`${field} | Claude: ${at_claude.is} | others: ${others.is}`, async () => {
      expectFate(at_claude, await post(model, row), claude);
      expectFate(others, await post('acme', row), acme);
    });
  }
});

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => Object(inner)[name] as unknown, value);
}
