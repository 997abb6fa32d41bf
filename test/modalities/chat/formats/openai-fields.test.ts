import { expect } from 'chai';
import type OpenAI from 'openai';
import { chat, completionOf, errorOf } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';

type Params = OpenAI.ChatCompletionCreateParams;

/** What becomes of a field: where it is said otherwise, what is sent; where it is not, its name. */
type Fate =
  | 'honoured'
  | { translated: Record<string, unknown>; adjusted?: string }
  | { ignored: string }
  | { refused: string };

/** The field of a row, what a request has beside a greeting, and what becomes of it. */
type Row = [field: string, request: Record<string, unknown>, fate: Fate];

const hello = { role: 'user', content: 'Hello!' };
const weather = { name: 'weather', parameters: { type: 'object' } };
const tool = { type: 'function', function: weather };
const call = { id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } };
const tool_calls = [call];
const result = { role: 'tool', tool_call_id: 'a', content: 'Rain' };
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
const file = {
  type: 'file',
  file: { filename: 'a.txt', file_data: 'data:text/plain;base64,QQ==' },
};
const mark = { cache_control: { type: 'ephemeral' } };
const INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
};

/** A request whose user says these parts. */
const says = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const choice = { type: 'function', function: { name: 'weather' } };

/** Every field that OpenAI's types know: one that is new there does not compile until it is here. */
const FIELDS: Record<keyof Params, Row[]> = {
  model: [['model', { model: 'able' }, 'honoured']],
  messages: [
    ['messages', { messages: [hello] }, 'honoured'],
    ['messages, empty', { messages: [] }, { refused: 'messages' }],
  ],
  stream: [['stream', { stream: true }, 'honoured']],
  stream_options: [
    [
      'stream_options.include_usage',
      { stream: true, stream_options: { include_usage: true } },
      'honoured',
    ],
    [
      'stream_options.include_obfuscation',
      { stream: true, stream_options: { include_obfuscation: true } },
      { ignored: 'stream_options.include_obfuscation' },
    ],
  ],
  temperature: [
    ['temperature', { temperature: 2 }, 'honoured'],
    ['temperature above 2', { temperature: 2.1 }, { refused: 'temperature' }],
  ],
  top_p: [['top_p', { top_p: 0.5 }, 'honoured']],
  max_tokens: [
    ['max_tokens', { max_tokens: 100 }, 'honoured'],
    [
      "max_tokens above the model's",
      { max_tokens: 32_000 },
      { translated: { max_tokens: 100 }, adjusted: 'max_tokens' },
    ],
  ],
  max_completion_tokens: [
    ['max_completion_tokens', { max_completion_tokens: 9 }, { translated: { max_tokens: 9 } }],
  ],
  stop: [
    ['stop, a text', { stop: 'END' }, 'honoured'],
    ['stop, four texts', { stop: ['a', 'b', 'c', 'd'] }, 'honoured'],
    ['stop, five texts', { stop: ['a', 'b', 'c', 'd', 'e'] }, { refused: 'stop' }],
  ],
  n: [
    ['n', { n: 2 }, 'honoured'],
    ['n below 1', { n: 0 }, { refused: 'n' }],
  ],
  presence_penalty: [['presence_penalty', { presence_penalty: -2 }, 'honoured']],
  frequency_penalty: [['frequency_penalty', { frequency_penalty: 2 }, 'honoured']],
  user: [['user', { user: 'ada' }, 'honoured']],
  tools: [
    ['tools, a function', { tools: [tool] }, 'honoured'],
    [
      'tools, a custom tool',
      { tools: [{ type: 'custom', custom: { name: 'exec' } }] },
      {
        translated: {
          tools: [{ type: 'function', function: { name: 'exec', parameters: INPUT } }],
        },
      },
    ],
    [
      'tools, of another type',
      { tools: [{ type: 'web_search' }] },
      { ignored: 'tools[].web_search' },
    ],
    [
      'tools[].cache_control',
      { tools: [{ ...tool, ...mark }] },
      { ignored: 'tools[].cache_control' },
    ],
    ['tools, of a model without', { model: 'acme-chat', tools: [tool] }, { ignored: 'tools' }],
  ],
  tool_choice: [
    ['tool_choice, a word', { tools: [tool], tool_choice: 'required' }, 'honoured'],
    ['tool_choice, a function', { tools: [tool], tool_choice: choice }, 'honoured'],
    [
      'tool_choice, a custom tool',
      { tools: [tool], tool_choice: { type: 'custom', custom: { name: 'weather' } } },
      { translated: { tool_choice: choice } },
    ],
    [
      'tool_choice, allowed tools',
      {
        tools: [tool, { type: 'function', function: { name: 'other' } }],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [choice] } },
      },
      { translated: { tools: [tool], tool_choice: 'auto' } },
    ],
  ],
  parallel_tool_calls: [
    ['parallel_tool_calls', { tools: [tool], parallel_tool_calls: false }, 'honoured'],
  ],
  functions: [
    ['functions', { functions: [weather] }, { translated: { tools: [tool] } }],
    ['functions beside tools', { functions: [weather], tools: [tool] }, { refused: 'functions' }],
  ],
  function_call: [
    [
      'function_call, a name',
      { functions: [weather], function_call: { name: 'weather' } },
      { translated: { tools: [tool], tool_choice: choice } },
    ],
    ['function_call without functions', { function_call: 'auto' }, { ignored: 'function_call' }],
  ],
  response_format: [['response_format', { response_format: { type: 'json_object' } }, 'honoured']],
  seed: [['seed', { seed: 7 }, 'honoured']],
  logit_bias: [['logit_bias', { logit_bias: { '50256': -100 } }, 'honoured']],
  logprobs: [['logprobs', { logprobs: true }, 'honoured']],
  top_logprobs: [['top_logprobs', { logprobs: true, top_logprobs: 2 }, 'honoured']],
  reasoning_effort: [['reasoning_effort', { reasoning_effort: 'low' }, 'honoured']],
  verbosity: [['verbosity', { verbosity: 'low' }, 'honoured']],
  metadata: [['metadata', { metadata: { a: 'b' } }, { ignored: 'metadata' }]],
  prompt_cache_key: [['prompt_cache_key', { prompt_cache_key: 'k' }, 'honoured']],
  safety_identifier: [['safety_identifier', { safety_identifier: 's' }, 'honoured']],
  audio: [['audio', { audio: { voice: 'alloy', format: 'wav' } }, { ignored: 'audio' }]],
  modalities: [['modalities', { modalities: ['text', 'audio'] }, { ignored: 'modalities' }]],
  moderation: [['moderation', { moderation: {} }, { ignored: 'moderation' }]],
  prediction: [
    ['prediction', { prediction: { type: 'content', content: 'x' } }, { ignored: 'prediction' }],
  ],
  prompt_cache_options: [
    ['prompt_cache_options', { prompt_cache_options: {} }, { ignored: 'prompt_cache_options' }],
  ],
  prompt_cache_retention: [
    [
      'prompt_cache_retention',
      { prompt_cache_retention: '24h' },
      { ignored: 'prompt_cache_retention' },
    ],
  ],
  service_tier: [['service_tier', { service_tier: 'priority' }, { ignored: 'service_tier' }]],
  store: [['store', { store: true }, { ignored: 'store' }]],
  web_search_options: [
    ['web_search_options', { web_search_options: {} }, { ignored: 'web_search_options' }],
  ],
};

const system = { role: 'system', content: 'Be brief.' };

/** What a message and its parts may hold. */
const MESSAGES: Row[] = [
  ['role system', { messages: [system, hello] }, 'honoured'],
  [
    'role developer',
    { messages: [{ ...system, role: 'developer' }] },
    { translated: { messages: [system] } },
  ],
  [
    'role tool',
    { messages: [{ role: 'assistant', content: null, tool_calls }, result] },
    'honoured',
  ],
  [
    'role tool, of a model without',
    { model: 'acme-chat', messages: [result] },
    { refused: 'messages[0].role' },
  ],
  [
    'role function and function_call',
    {
      messages: [
        { role: 'assistant', content: null, function_call: call.function },
        { role: 'function', name: 'weather', content: 'Rain' },
      ],
    },
    {
      translated: {
        messages: [
          { role: 'assistant', content: null, tool_calls: [{ ...call, id: 'call_0' }] },
          { ...result, tool_call_id: 'call_0' },
        ],
      },
    },
  ],
  [
    'tool_calls, of a custom tool',
    {
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'exec', input: 'ls' } }],
        },
      ],
    },
    {
      translated: {
        messages: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'a',
                type: 'function',
                function: { name: 'exec', arguments: '{"input":"ls"}' },
              },
            ],
          },
        ],
      },
    },
  ],
  ['name', { messages: [{ ...hello, name: 'ada' }] }, 'honoured'],
  [
    'refusal',
    { messages: [{ role: 'assistant', content: null, refusal: 'No.' }] },
    { translated: { messages: [{ role: 'assistant', content: 'No.' }] } },
  ],
  [
    'part refusal',
    { messages: [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }] },
    { translated: { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'No.' }] }] } },
  ],
  [
    'audio of an earlier answer',
    { messages: [{ role: 'assistant', content: 'Hi', audio: { id: 'audio_1' } }] },
    { ignored: 'messages[].audio' },
  ],
  [
    'annotations of an earlier answer',
    { messages: [{ role: 'assistant', content: 'Hi', annotations: [{}] }] },
    { ignored: 'messages[].annotations' },
  ],
  ['part text', says({ type: 'text', text: 'Hi' }), 'honoured'],
  ['part image_url', says(image), 'honoured'],
  [
    'part image_url, its detail',
    says({ ...image, image_url: { ...image.image_url, detail: 'low' } }),
    'honoured',
  ],
  [
    'part image_url, of a model without',
    { model: 'acme-chat', ...says(image) },
    { refused: 'messages[0].content[0]' },
  ],
  ['part input_audio', says(sound), 'honoured'],
  [
    'part input_audio, of a model without',
    { model: 'acme-chat', ...says(sound) },
    { refused: 'messages[0].content[0]' },
  ],
  ['part file', says(file), 'honoured'],
  [
    'part file, of a model without',
    { model: 'acme-all', ...says(file) },
    { refused: 'messages[0].content[0]' },
  ],
  [
    'part, its cache_control',
    says({ type: 'text', text: 'Hi', ...mark }),
    { ignored: 'messages[].content[].cache_control' },
  ],
  [
    'part, its prompt_cache_breakpoint',
    says({ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }),
    { ignored: 'messages[].content[].prompt_cache_breakpoint' },
  ],
  [
    'part input_audio, another field',
    says({ ...sound, input_audio: { ...sound.input_audio, x: 1 } }),
    { ignored: 'messages[].content[].input_audio.x' },
  ],
  [
    'part of another type',
    says({ type: 'video_url', video_url: {} }),
    { refused: 'messages[0].content[0].type' },
  ],
  [
    'tool_calls, another field of a function',
    {
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ ...call, function: { ...call.function, x: 1 } }],
        },
      ],
    },
    { ignored: 'messages[].tool_calls[].function.x' },
  ],
];

describe("OpenAI's fields of a chat request", () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  able: { owner: acme, capabilities: [chat, vision, audio, tools, file], upstreams: [{ provider: acme }], price: *paid, limits: { max_tokens: 100 } }
`,
    });
  });
  after(() => acme.close());

  for (const [field, request, fate] of [...Object.values(FIELDS).flat(), ...MESSAGES]) {
    it(`${field.padEnd(42, ' .')} ${wordOf(fate)}`, async () => {
      const asked = acme.upstream.requests.length;
      const answer = await chat(acme, { model: 'able', messages: [hello], ...request });
      if (typeof fate === 'object' && 'refused' in fate) {
        expect([answer.status, errorOf(answer).param]).to.deep.equal([400, fate.refused]);
        expect(acme.upstream.requests).to.have.length(asked);
        return;
      }
      if (request.stream !== true) completionOf(answer);
      const [ignored, adjusted] = ['ignored', 'adjusted'].map((name) =>
        answer.headers.get(`tollgate-${name}`),
      );
      const { sent, ignored: named = null, adjusted: changed = null } = expected(request, fate);
      expect({ ignored, adjusted }).to.deep.equal({ ignored: named, adjusted: changed });
      expect(acme.sent()).to.deep.include(sent);
    });
  }
});

function wordOf(fate: Fate): string {
  return typeof fate === 'string' ? fate : (Object.keys(fate)[0] ?? '');
}

function expected(
  request: Record<string, unknown>,
  fate: Exclude<Fate, { refused: string }>,
): { sent: Record<string, unknown>; ignored?: string; adjusted?: string } {
  if (fate === 'honoured') return { sent: request };
  if ('ignored' in fate) return { sent: { model: request.model ?? 'able' }, ...fate };
  const { translated: sent, ...rest } = fate;
  return { sent, ...rest };
}
