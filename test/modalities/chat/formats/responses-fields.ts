/** What becomes of a field. */
export type Fate = 'honoured' | 'translated' | 'ignored and named' | 'refused';

/** A field, its fate, and a call that shows it. */
export interface Row {
  field: string;
  /** Which value of it, where that matters. */
  what?: string;
  fate: Fate;
  /** What the call changes of a good body. */
  body: object;
  /** What the upstream is sent, among other things. */
  sent?: object;
  /** What the client is answered, among other things. */
  answer?: object;
  /** The field that an error is about, or the name of what is ignored where it is another. */
  param?: string;
}

export const GOOD = { input: 'Hello!' };

const HELLO = { role: 'user', content: 'Hello!' };
const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const PDF = 'data:application/pdf;base64,JVBERi0=';
const SCHEMA = { type: 'object', properties: {} };
const WEATHER = { type: 'function', name: 'weather', parameters: SCHEMA };
const SENT_WEATHER = { type: 'function', function: { name: 'weather', parameters: SCHEMA } };
const CALL = { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{}' };
const CUSTOM = { type: 'custom_tool_call', call_id: 'a', name: 'run', input: 'ls' };
const INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
};

function called(name: string, args: string): object {
  const tool_calls = [{ id: 'a', type: 'function', function: { name, arguments: args } }];
  return { role: 'assistant', content: null, tool_calls };
}

/** A row about an item that follows a greeting. */
function item(what: string, fate: Fate, items: object | object[], more: Partial<Row> = {}): Row {
  return { field: 'input[]', what, fate, body: { input: [HELLO, items].flat() }, ...more };
}

/** A row about a part of a user's message. */
function part(what: string, fate: Fate, one: object, more: Partial<Row> = {}): Row {
  const input = [{ role: 'user', content: [one] }];
  return { field: 'input[].content[]', what, fate, body: { input }, ...more };
}

function says(...messages: object[]): Partial<Row> {
  return { sent: { messages: [HELLO, ...messages] } };
}

function shows(one: object): Partial<Row> {
  return { sent: { messages: [{ role: 'user', content: [one] }] } };
}

const named = (field: string, body: object): Row => ({ field, fate: 'ignored and named', body });

const TOP: readonly Row[] = [
  { field: 'model', fate: 'honoured', body: {}, answer: { model: 'every' } },
  { field: 'input', what: 'a text', fate: 'translated', body: {}, sent: { messages: [HELLO] } },
  {
    field: 'instructions',
    fate: 'translated',
    body: { instructions: 'Be brief.' },
    sent: { messages: [{ role: 'system', content: 'Be brief.' }, HELLO] },
  },
  {
    field: 'stream',
    what: 'null',
    fate: 'honoured',
    body: { stream: null },
    sent: { stream: false },
  },
  {
    field: 'max_output_tokens',
    fate: 'translated',
    body: { max_output_tokens: 50 },
    sent: { max_tokens: 50 },
    answer: { max_output_tokens: 50 },
  },
  {
    field: 'temperature',
    fate: 'honoured',
    body: { temperature: 0 },
    sent: { temperature: 0 },
    answer: { temperature: 0 },
  },
  {
    field: 'top_p',
    fate: 'honoured',
    body: { top_p: 0.5 },
    sent: { top_p: 0.5 },
    answer: { top_p: 0.5 },
  },
  {
    field: 'user',
    fate: 'honoured',
    body: { user: 'u' },
    sent: { user: 'u' },
    answer: { user: 'u' },
  },
  {
    field: 'metadata',
    fate: 'honoured',
    body: { metadata: { a: 'b' } },
    answer: { metadata: { a: 'b' } },
  },
  {
    field: 'store',
    what: 'false',
    fate: 'honoured',
    body: { store: false },
    answer: { store: false },
  },
  { ...named('store', { store: true }), what: 'true', answer: { store: false } },
  {
    field: 'truncation',
    what: 'disabled',
    fate: 'honoured',
    body: { truncation: 'disabled' },
    answer: { truncation: 'disabled' },
  },
  { ...named('truncation', { truncation: 'auto' }), what: 'auto' },
  {
    field: 'include[]',
    what: 'reasoning.encrypted_content',
    fate: 'honoured',
    body: { include: ['reasoning.encrypted_content'] },
  },
  {
    field: 'include[]',
    what: 'message.output_text.logprobs',
    fate: 'translated',
    body: { include: ['message.output_text.logprobs'] },
    sent: { logprobs: true },
  },
  named('include[].web_search_call.action.sources', {
    include: ['web_search_call.action.sources'],
  }),
  {
    field: 'top_logprobs',
    fate: 'translated',
    body: { top_logprobs: 2 },
    sent: { logprobs: true, top_logprobs: 2 },
  },
  {
    field: 'reasoning.effort',
    fate: 'translated',
    body: { reasoning: { effort: 'low' } },
    sent: { reasoning_effort: 'low' },
    answer: { reasoning: { effort: 'low', summary: null } },
  },
  {
    field: 'reasoning.summary',
    fate: 'honoured',
    body: { reasoning: { summary: 'auto' } },
    answer: { reasoning: { effort: null, summary: 'auto' } },
  },
  named('reasoning.context', { reasoning: { context: 'all_turns' } }),
  {
    field: 'text.format',
    what: 'json_schema',
    fate: 'translated',
    body: { text: { format: { type: 'json_schema', name: 'a', schema: SCHEMA, strict: true } } },
    sent: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: SCHEMA, strict: true },
      },
    },
  },
  {
    field: 'text.format',
    what: 'json_object',
    fate: 'translated',
    body: { text: { format: { type: 'json_object' } } },
    sent: { response_format: { type: 'json_object' } },
  },
  {
    field: 'text.verbosity',
    fate: 'translated',
    body: { text: { verbosity: 'low' } },
    sent: { verbosity: 'low' },
    answer: { text: { verbosity: 'low', format: { type: 'text' } } },
  },
  {
    field: 'prompt_cache_key',
    what: 'where the model lists it',
    fate: 'honoured',
    body: { prompt_cache_key: 'k' },
    sent: { prompt_cache_key: 'k' },
  },
  {
    field: 'safety_identifier',
    what: 'where the model lists it',
    fate: 'honoured',
    body: { safety_identifier: 's' },
    sent: { safety_identifier: 's' },
  },
  named('reasoning.later', { reasoning: { later: 1 } }),
  named('text.later', { text: { later: 1 } }),
  named('text.format.later', { text: { format: { type: 'text', later: 1 } } }),
  named('stream_options.include_obfuscation', { stream_options: { include_obfuscation: true } }),
  ...['client_metadata', 'context_management', 'max_tool_calls', 'moderation', 'service_tier'].map(
    (field) => named(field, { [field]: 'x' }),
  ),
  ...['n', 'max_tokens', 'stop', 'messages', 'logprobs'].map((field) => ({
    ...named(field, { [field]: [7] }),
    what: 'a word of chat completions',
  })),
  ...['previous_response_id', 'conversation'].map((field): Row => ({
    field,
    fate: 'refused',
    body: { [field]: 'id' },
    param: field,
  })),
  { field: 'prompt', fate: 'refused', body: { prompt: { id: 'p' } }, param: 'prompt' },
  { field: 'background', fate: 'refused', body: { background: true }, param: 'background' },
];

const ITEMS: readonly Row[] = [
  ...(['user', 'assistant', 'system'] as const).map((role) =>
    item(
      `message of ${role}`,
      'translated',
      { role, content: 'Hi.' },
      says({ role, content: 'Hi.' }),
    ),
  ),
  item(
    'message of developer',
    'translated',
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Hi.' }] },
    says({ role: 'system', content: 'Hi.' }),
  ),
  item(
    'message with output_text',
    'translated',
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: [] }],
    },
    says({ role: 'assistant', content: 'Hi.' }),
  ),
  item(
    'message with refusal',
    'translated',
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    says({ role: 'assistant', content: 'No.' }),
  ),
  {
    ...item('message with phase', 'ignored and named', {
      role: 'assistant',
      content: 'Hi.',
      phase: 'commentary',
    }),
    param: 'input[].phase',
  },
  item(
    'function_call, function_call_output',
    'translated',
    [CALL, { type: 'function_call_output', call_id: 'a', output: 'Rain.' }],
    says(called('weather', '{}'), { role: 'tool', tool_call_id: 'a', content: 'Rain.' }),
  ),
  item(
    'function_call_output of parts',
    'translated',
    [
      CALL,
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'Rain.' },
          { type: 'input_image', image_url: PNG },
        ],
      },
    ],
    says(
      called('weather', '{}'),
      { role: 'tool', tool_call_id: 'a', content: 'Rain.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The result of the tool call a:' },
          { type: 'image_url', image_url: { url: PNG } },
        ],
      },
    ),
  ),
  item(
    'function_call with namespace',
    'translated',
    { ...CALL, namespace: 'sky' },
    says(called('sky__weather', '{}')),
  ),
  item(
    'custom_tool_call, custom_tool_call_output',
    'translated',
    [
      CUSTOM,
      {
        type: 'custom_tool_call_output',
        call_id: 'a',
        output: [{ type: 'input_text', text: 'x' }],
      },
    ],
    says(called('run', '{"input":"ls"}'), { role: 'tool', tool_call_id: 'a', content: 'x' }),
  ),
  item(
    'reasoning without encrypted_content',
    'translated',
    [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }, CALL],
    says(called('weather', '{}')),
  ),
  {
    ...item('reasoning that another has encrypted', 'ignored and named', [
      { type: 'reasoning', summary: [], encrypted_content: 'b3BhcXVl' },
      CALL,
    ]),
    param: 'input[].encrypted_content',
  },
  item(
    'additional_tools',
    'translated',
    { type: 'additional_tools', role: 'developer', tools: [WEATHER] },
    { sent: { messages: [HELLO], tools: [SENT_WEATHER] } },
  ),
  ...['web_search_call', 'file_search_call', 'compaction', 'mcp_list_tools'].map((type) => ({
    ...item(type, 'ignored and named', { type, id: 'x' }),
    param: `input[].${type}`,
  })),
  item('item_reference', 'refused', { type: 'item_reference', id: 'x' }, { param: 'input[1]' }),
];

const PARTS: readonly Row[] = [
  part(
    'input_text',
    'translated',
    { type: 'input_text', text: 'Hello!' },
    {
      sent: { messages: [HELLO] },
    },
  ),
  part(
    'input_image',
    'translated',
    { type: 'input_image', image_url: PNG, detail: 'high' },
    shows({ type: 'image_url', image_url: { url: PNG, detail: 'high' } }),
  ),
  part(
    'input_image by file_id',
    'refused',
    { type: 'input_image', file_id: 'file-1' },
    {
      param: 'input[0].content[0]',
    },
  ),
  part(
    'input_file',
    'translated',
    { type: 'input_file', filename: 'a.pdf', file_data: PDF },
    shows({ type: 'file', file: { filename: 'a.pdf', file_data: PDF } }),
  ),
  part(
    'input_file by URL',
    'translated',
    { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    shows({ type: 'file', file: { file_data: 'https://example.com/a.pdf' } }),
  ),
  part(
    'input_audio',
    'translated',
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    shows({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
  ),
  part('any other with a text', 'translated', { type: 'input_smell', text: 'Roses.' }),
  {
    field: 'input[].content[]',
    what: 'any other',
    fate: 'ignored and named',
    body: {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_smell', text: { of: 'roses' }, file_id: 7 },
            { type: 'input_text', text: 'Hello!' },
          ],
        },
      ],
    },
    param: 'input[].content[].input_smell',
    sent: { messages: [HELLO] },
  },
];

const TOOLS: readonly Row[] = [
  {
    field: 'tools[]',
    what: 'function',
    fate: 'translated',
    body: { tools: [WEATHER] },
    sent: { tools: [SENT_WEATHER] },
  },
  {
    field: 'tools[]',
    what: 'custom',
    fate: 'translated',
    body: { tools: [{ type: 'custom', name: 'run', description: 'Runs.' }] },
    sent: {
      tools: [
        { type: 'function', function: { name: 'run', description: 'Runs.', parameters: INPUT } },
      ],
    },
  },
  {
    field: 'tools[]',
    what: 'namespace',
    fate: 'translated',
    body: { tools: [{ type: 'namespace', name: 'sky', description: 'Skies.', tools: [WEATHER] }] },
    sent: {
      tools: [
        {
          type: 'function',
          function: { name: 'sky__weather', description: 'About sky: Skies.', parameters: SCHEMA },
        },
      ],
    },
  },
  ...['web_search', 'file_search', 'mcp', 'image_generation', 'code_interpreter'].map((type) => ({
    ...named('tools[]', { tools: [{ type }] }),
    what: type,
    param: `tools[].${type}`,
  })),
  named('tools[].defer_loading', { tools: [{ ...WEATHER, defer_loading: true }] }),
  {
    field: 'parallel_tool_calls',
    fate: 'honoured',
    body: { tools: [WEATHER], parallel_tool_calls: false },
    sent: { parallel_tool_calls: false },
    answer: { parallel_tool_calls: false },
  },
  ...['none', 'auto', 'required'].map((word): Row => ({
    field: 'tool_choice',
    what: word,
    fate: 'honoured',
    body: { tools: [WEATHER], tool_choice: word },
    sent: { tool_choice: word },
    answer: { tool_choice: word },
  })),
  {
    field: 'tool_choice',
    what: 'a function',
    fate: 'translated',
    body: { tools: [WEATHER], tool_choice: { type: 'function', name: 'weather' } },
    sent: { tool_choice: { type: 'function', function: { name: 'weather' } } },
  },
  {
    field: 'tool_choice',
    what: 'allowed_tools',
    fate: 'translated',
    body: {
      tools: [{ ...WEATHER, name: 'other' }, WEATHER],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'weather' }],
      },
    },
    sent: { tools: [SENT_WEATHER], tool_choice: 'required' },
  },
  ...(
    [
      ['a tool that only OpenAI can run', { type: 'web_search' }],
      ['a function that is not given', { type: 'function', name: 'none' }],
      ['required, without any to call', 'required'],
    ] as const
  ).map(([what, tool_choice]): Row => {
    const body = { tools: [{ type: 'web_search' }], tool_choice };
    return {
      field: 'tool_choice',
      what,
      fate: 'refused',
      body,
      param: 'tool_choice',
    };
  }),
];

export const FIELDS: readonly Row[] = [...TOP, ...ITEMS, ...PARTS, ...TOOLS];
