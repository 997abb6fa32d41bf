import type { ServerResponse } from 'node:http';
import { defaultEndpoints } from '../../src/config/endpoints.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { wav } from '../../providers/simulator/sound.js';
import { ask, type Answer } from './ask.js';
import { startClaude } from './claude-server.js';
import { startGateway, type TestGateway } from './gateway.js';
import {
  chatJson,
  chatSse,
  play,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from './upstream.js';

/** A gateway that has a stage of a test behind every `validate`, before upstreams of every kind. */
export interface TextGateway extends TestGateway {
  /** What all upstreams received, in its order. */
  sent(): readonly Received[];
  post(path: string, body: object): Promise<Answer>;
  /** What was charged, what is held now, and what does not add up. */
  books(): Promise<{ charges: number; held: bigint; faults: string[] }>;
}

export const ADDRESS = 'ann@example.com';
/** A whole image of one pixel. */
export const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SOUND = `data:audio/wav;base64,${wav(Buffer.alloc(8_000)).toString('base64')}`;

const MANIFEST = `name: Acme
auth: bearer
operations:
  chat: { path: /chat/completions, codec: openai }
  embedding: { path: /embeddings, codec: openai-embedding }
  moderation: { path: /moderations, codec: openai-moderation }
  speech: { path: /audio/speech, codec: openai-speech }
  transcription:
    { path: /audio/transcriptions, codec: openai-transcription, translate: /audio/translations }
  image: { path: /images/generations, codec: openai-image, max: 10, edit: { path: /images/edits } }
passthrough: [metadata, response_format, image]
wire: { free_sizes: true, files: true }
`;

const PRICE = 'price: { input_per_million: 1, output_per_million: 2 }';
const TOKENS = `upstreams: [{ provider: acme }], ${PRICE}`;
const MODELS = `
  talk: { owner: acme, capabilities: [chat, vision, tools, file], ${TOKENS} }
  claude: { owner: acme, capabilities: [chat, vision, tools], upstreams: [{ provider: claude }], ${PRICE} }
  vector: { owner: acme, capabilities: [embedding], upstreams: [{ provider: acme }], price: { input_per_million: 1 } }
  judge: { owner: acme, capabilities: [moderation], upstreams: [{ provider: acme }], price: { input_per_million: 1 } }
  voice: { owner: acme, capabilities: [speech], upstreams: [{ provider: acme }], price: { per_million_characters: 15 } }
  ears: { owner: acme, capabilities: [transcription], upstreams: [{ provider: acme }], price: { per_audio_minute: 0.006 } }
  film: { owner: acme, capabilities: [video], upstreams: [{ provider: films }], price: { per_video_second: 0.1 } }
  painter: { owner: acme, capabilities: [image], upstreams: [{ provider: acme }], price: { per_image: 0.04 } }
`;

/** Every shipped endpoint that reads a body, with `stage` behind the reading. */
function endpointsWith(stage: string): string {
  const lines = defaultEndpoints(MODALITIES).flatMap(({ name, at, stages }) => {
    if (!stages.some((one) => typeof one === 'object' && 'validate' in one)) return [];
    const written = stages.flatMap((one) => {
      if (typeof one === 'string') return [one];
      return [JSON.stringify(one), ...('validate' in one ? [stage] : [])];
    });
    return [`  ${name}: { at: "${at}", stages: [${written.join(', ')}] }`];
  });
  return lines.join('\n');
}

function json(body: object): Step {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const RESULT = { flagged: false, categories: { hate: false }, category_scores: { hate: 0.1 } };
const USAGE = { prompt_tokens: 5, total_tokens: 5 };
const ANSWERS: Record<string, (asked: Record<string, unknown>) => Step> = {
  '/chat/completions': ({ stream }) => (stream ? chatSse(['Good', ' day']) : chatJson('Good day')),
  '/embeddings': ({ input }) => {
    const count = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
    const data = Array.from({ length: count }, (_, index) => ({ index, embedding: [0.5] }));
    return json({ data, usage: USAGE });
  },
  '/moderations': () => json({ id: 'm', model: 'judge', results: [RESULT], usage: USAGE }),
  '/models/film/predictions': () => json({ id: 'film-1', status: 'starting' }),
  '/audio/speech': () => ({ headers: { 'content-type': 'audio/mpeg' }, body: 'sound' }),
  '/audio/transcriptions': () => json({ text: 'The toll is paid.', duration: 2 }),
  '/audio/translations': () => json({ text: 'The toll is paid.', duration: 2 }),
  '/images/generations': () => json({ created: 1, data: [{ b64_json: PNG.split(',')[1] }] }),
  '/images/edits': () => json({ created: 1, data: [{ b64_json: PNG.split(',')[1] }] }),
};

async function answer({ path, json: asked }: Received, response: ServerResponse): Promise<void> {
  const step = ANSWERS[path]?.((asked ?? {}) as Record<string, unknown>);
  await play(step ?? { status: 404, body: '{}' }, response);
}

export async function startTextGateway(
  stage: string,
  files: Record<string, string> = {},
): Promise<TextGateway> {
  const acme = await startUpstream(answer);
  const claude = await startClaude(() => [{ type: 'text', text: 'Good day' }]);
  const upstreams: FakeUpstream[] = [acme, claude];
  const yaml = `owners: { acme: { name: Acme } }
providers:
  acme: { uses: ./acme.yaml, base_url: '${acme.url}', api_key: sk-up }
  films: { uses: replicate, base_url: '${acme.url}', api_key: sk-up }
  claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant }
models:${MODELS}
endpoints:
${endpointsWith(stage)}
`;
  const gateway = await startGateway(yaml, { files: { 'acme.yaml': MANIFEST, ...files } });
  const { store } = gateway.gateway;
  return {
    ...gateway,
    sent: () => upstreams.flatMap(({ requests }) => requests),
    post: (path, body) =>
      ask(gateway, path, {
        method: 'POST',
        headers: body instanceof FormData ? {} : { 'content-type': 'application/json' },
        body: body instanceof FormData ? body : JSON.stringify(body),
      }),
    books: async () => {
      const rows = await store.ledger(gateway.account.id, { limit: 1_000 });
      const { faults, open_holds } = await store.verify();
      const charges = rows.filter(({ kind }) => kind === 'charge').length;
      return { charges, held: BigInt(open_holds), faults };
    },
    close: async () => {
      await gateway.close();
      for (const upstream of upstreams) await upstream.close();
    },
  };
}

/** A call that has the address in it, and the field of the first text that has. */
export interface TextCall {
  title: string;
  path: string;
  body: () => object;
  field: string;
  /** What must reach the upstream as it is. */
  kept?: readonly string[];
  /** Its hold lives on with a task. */
  is_task?: boolean;
}

const TOOL = {
  name: 'write',
  description: `Writes to ${ADDRESS}`,
  parameters: {
    type: 'object',
    properties: { to: { type: 'string', format: 'email', default: ADDRESS } },
    required: ['to'],
  },
};
const ARGUMENTS = String.raw`{"to":"ann\u0040example.com","id":12345678901234567890}`;
const PARTS = [
  { type: 'text', text: `I am ${ADDRESS}` },
  { type: 'image_url', image_url: { url: PNG } },
];

const chatBody = (more: object = {}) => ({
  model: 'talk',
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: PARTS, name: ADDRESS },
    {
      role: 'assistant',
      content: null,
      reasoning_content: `It is ${ADDRESS}`,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'write', arguments: ARGUMENTS } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: `sent to ${ADDRESS}` },
  ],
  tools: [{ type: 'function', function: TOOL }],
  stop: [ADDRESS],
  user: ADDRESS,
  metadata: { from: ADDRESS },
  prediction: { type: 'content', content: [{ type: 'text', text: ADDRESS }] },
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'a', schema: { description: ADDRESS } },
  },
  ...more,
});

const source = { type: 'base64', media_type: 'image/png', data: PNG.split(',')[1] };
const messagesBody = (model: string, more: object = {}) => ({
  model,
  max_tokens: 50,
  system: [{ type: 'text', text: `You are ${ADDRESS}`, cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', source },
        { type: 'text', text: `Ask ${ADDRESS}` },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'toolu_1', name: 'write', input: { [ADDRESS]: [{ to: ADDRESS }] } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: `To ${ADDRESS}` }],
        },
      ],
    },
  ],
  tools: [{ name: 'write', description: `To ${ADDRESS}`, input_schema: TOOL.parameters }],
  metadata: { user_id: ADDRESS },
  ...more,
});

const responsesBody = (more: object = {}) => ({
  model: 'talk',
  instructions: `You are ${ADDRESS}`,
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: ADDRESS },
        { type: 'input_image', image_url: PNG },
      ],
    },
    { type: 'function_call', call_id: 'call_1', name: 'write', arguments: ARGUMENTS },
    {
      type: 'function_call_output',
      call_id: 'call_1',
      output: [{ type: 'input_text', text: ADDRESS }],
    },
  ],
  tools: [{ type: 'function', ...TOOL }],
  ...more,
});

const contentBody = () => ({
  system_instruction: { parts: [{ text: `You are ${ADDRESS}` }] },
  contents: [
    {
      role: 'user',
      parts: [{ inline_data: { mime_type: 'image/png', data: source.data } }, { text: ADDRESS }],
    },
    {
      role: 'model',
      parts: [{ functionCall: { name: 'write', args: { to: ADDRESS, [ADDRESS]: 1 } } }],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'write', response: { sent: [ADDRESS] } } }],
    },
  ],
  tools: [{ functionDeclarations: [TOOL] }],
});

function form(fields: Record<string, string>, file: string, url: string): FormData {
  const data = new FormData();
  const [, base64 = ''] = url.split(',');
  const type = url.slice('data:'.length, url.indexOf(';'));
  data.append(file, new Blob([Buffer.from(base64, 'base64')], { type }), 'file');
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

const CHAT = '/v1/chat/completions';
const GEMINI = '/v1beta/models/talk:';
const STEP = 'messages[1].content[0].text';
const bytes = source.data ?? '';
const prompt = `A letter to ${ADDRESS}`;

/** A call of every format, streamed where it can be. */
export const TEXT_CALLS: readonly TextCall[] = [
  {
    title: 'chat',
    path: CHAT,
    body: () => chatBody(),
    field: STEP,
    kept: [PNG, '"call_1"', '12345678901234567890', '"email"'],
  },
  {
    title: 'a stream of chat',
    path: CHAT,
    body: () => chatBody({ stream: true }),
    field: STEP,
    kept: [PNG],
  },
  {
    title: 'OpenAI chat',
    path: `/openai${CHAT}`,
    body: () => chatBody(),
    field: STEP,
    kept: [PNG],
  },
  {
    title: 'completions',
    path: '/v1/completions',
    body: () => ({ model: 'talk', prompt: [ADDRESS] }),
    field: 'prompt[0]',
  },
  {
    title: 'messages',
    path: '/v1/messages',
    body: () => messagesBody('talk'),
    field: 'system[0].text',
    kept: [PNG, 'toolu_1'],
  },
  {
    title: 'messages to Claude',
    path: '/v1/messages',
    body: () => messagesBody('claude'),
    field: 'system[0].text',
    kept: [bytes, 'toolu_1', 'ephemeral'],
  },
  {
    title: 'a stream of messages',
    path: '/v1/messages',
    body: () => messagesBody('claude', { stream: true }),
    field: 'system[0].text',
    kept: [bytes],
  },
  {
    title: 'responses',
    path: '/v1/responses',
    body: () => responsesBody(),
    field: 'instructions',
    kept: [PNG, '"call_1"', '12345678901234567890'],
  },
  {
    title: 'a stream of responses',
    path: '/openai/v1/responses',
    body: () => responsesBody({ stream: true }),
    field: 'instructions',
    kept: [PNG],
  },
  {
    title: 'generateContent',
    path: `${GEMINI}generateContent`,
    body: contentBody,
    field: 'contents[0].parts[1].text',
    kept: [PNG],
  },
  {
    title: 'streamGenerateContent',
    path: `${GEMINI}streamGenerateContent?alt=sse`,
    body: contentBody,
    field: 'contents[0].parts[1].text',
    kept: [PNG],
  },
  {
    title: 'embeddings',
    path: '/v1/embeddings',
    body: () => ({ model: 'vector', input: ['x', ADDRESS] }),
    field: 'input[1]',
  },
  {
    title: 'embedContent',
    path: '/v1beta/models/vector:embedContent',
    body: () => ({ content: { parts: [{ text: ADDRESS }] } }),
    field: 'content.parts[0].text',
  },
  {
    title: 'batchEmbedContents',
    path: '/v1beta/models/vector:batchEmbedContents',
    body: () => ({ requests: ['x', ADDRESS].map((text) => ({ content: { parts: [{ text }] } })) }),
    field: 'requests[1].content.parts[0].text',
  },
  {
    title: 'images',
    path: '/v1/images/generations',
    body: () => ({ model: 'painter', prompt, image: [PNG] }),
    field: 'prompt',
    kept: [PNG],
  },
  {
    title: "OpenAI's images",
    path: '/openai/v1/images/generations',
    body: () => ({ model: 'painter', prompt }),
    field: 'prompt',
  },
  {
    title: 'image edits',
    path: '/v1/images/edits',
    body: () => form({ model: 'painter', prompt }, 'image', PNG),
    field: 'prompt',
  },
  {
    title: 'image edits in JSON',
    path: '/openai/v1/images/edits',
    body: () => ({ model: 'painter', prompt, image: PNG }),
    field: 'prompt',
  },
  {
    title: 'speech',
    path: '/v1/audio/speech',
    body: () => ({ model: 'voice', voice: 'alloy', input: ADDRESS }),
    field: 'input',
  },
  {
    title: 'transcriptions',
    path: '/v1/audio/transcriptions',
    body: () => form({ model: 'ears', prompt }, 'file', SOUND),
    field: 'prompt',
  },
  {
    title: 'translations',
    path: '/v1/audio/translations',
    body: () => form({ model: 'ears', prompt }, 'file', SOUND),
    field: 'prompt',
  },
  {
    title: 'videos',
    path: '/v1/queue/film',
    body: () => ({
      prompt,
      parameters: { negative_prompt: ADDRESS, image: PNG, duration_seconds: 4 },
    }),
    field: 'prompt',
    kept: [PNG],
    is_task: true,
  },
  {
    title: 'moderations',
    path: '/v1/moderations',
    body: () => ({
      model: 'judge',
      input: [
        { type: 'text', text: ADDRESS },
        { type: 'image_url', image_url: { url: PNG } },
      ],
    }),
    field: 'input[0].text',
    kept: [PNG],
  },
];
