import { eventFrame } from '../../helpers/aws-frames.js';

/** The counters of one report. Null and zero say nothing. */
export type Counts = Readonly<Record<string, number | null>>;

/** A step of a stream: a word, a report of usage, or both in one event. */
export interface Act {
  word?: true;
  counts?: Counts;
}

/** How the answers of a wire are written. */
export interface CountedWire {
  name: string;
  /** The entry under `providers`, without its address. */
  uses: string;
  model: string;
  /** The counters, by their names in `Act.counts`, and what they are parts of. */
  prompt: readonly string[];
  /** Classes that are parts of the prompt beside its counters, and not within them. */
  adds_classes: boolean;
  classes: readonly ('cached' | 'written')[];
  output: readonly string[];
  /** Prompt counters whose zero, said by a whole answer, is believed. */
  believes_zero: readonly string[];
  /** Whether a call makes one choice only. */
  is_single: boolean;
  content_type: string;
  begin(): (string | Buffer)[];
  act(act: Act): string | Buffer;
  end(): (string | Buffer)[];
}

export const WORD = ' hello';

/** The gateway's own count of a prompt of one message, by the tokens of its text. */
export function ownPrompt({ model }: CountedWire, text_tokens: number): number {
  return model.includes('claude') ? Math.ceil(8 + 1.1 * text_tokens) : text_tokens + 4;
}

const data = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
const named = (type: string, body: object = {}): object => ({ type, ...body });
/** The counters under the names of the wire. */
const renamed = (counts: Counts, names: Readonly<Record<string, string>>): Counts =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [names[name] ?? name, count]));

const TOTALS = {
  prompt: ['prompt'],
  adds_classes: false,
  classes: ['cached', 'written'],
  output: ['output'],
  believes_zero: ['prompt'],
} as const;
const PARTS = {
  prompt: ['fresh'],
  adds_classes: true,
  classes: ['cached', 'written'],
  output: ['output'],
} as const;
const EVENTS = 'text/event-stream';

function openAiUsage({ prompt, output, cached, written }: Counts): object {
  return {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(output !== undefined && { completion_tokens: output }),
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  };
}

const openAi: CountedWire = {
  ...TOTALS,
  name: 'openai',
  uses: 'uses: openai, api_key: k',
  model: 'gpt-4o-mini',
  is_single: false,
  content_type: EVENTS,
  begin: () => [data({ choices: [{ index: 0, delta: { role: 'assistant' } }] })],
  act: ({ word, counts }) => {
    const choices = word ? [{ index: 0, delta: { content: WORD } }] : [];
    return data({ choices, ...(counts && { usage: openAiUsage(counts) }) });
  },
  end: () => [
    data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ],
};

const ANTHROPIC = {
  fresh: 'input_tokens',
  cached: 'cache_read_input_tokens',
  written: 'cache_creation_input_tokens',
  output: 'output_tokens',
};
const ANTHROPIC_BEGIN = [
  named('message_start', { message: { id: 'msg_1', content: [] } }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
];
const ANTHROPIC_END = [
  named('content_block_stop', { index: 0 }),
  named('message_delta', { delta: { stop_reason: 'end_turn' } }),
  named('message_stop'),
];

function anthropicAct({ word, counts }: Act): object[] {
  const delta = { type: 'text_delta', text: WORD };
  return [
    ...(word ? [named('content_block_delta', { index: 0, delta })] : []),
    ...(counts ? [named('message_delta', { delta: {}, usage: renamed(counts, ANTHROPIC) })] : []),
  ];
}

const anthropic: CountedWire = {
  ...PARTS,
  name: 'anthropic',
  uses: 'uses: anthropic, api_key: k',
  model: 'claude-haiku-4-5',
  believes_zero: ['fresh'],
  is_single: true,
  content_type: EVENTS,
  begin: () => ANTHROPIC_BEGIN.map(data),
  act: (act) => anthropicAct(act).map(data).join(''),
  end: () => ANTHROPIC_END.map(data),
};

const AWS_EVENTS = 'application/vnd.amazon.eventstream';
const chunk = (event: object): Buffer => {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  return eventFrame('chunk', { bytes });
};

const invoke: CountedWire = {
  ...anthropic,
  name: 'invoke',
  uses: 'uses: ./invoke.yaml, region: us-east-1, api_key: k',
  model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
  content_type: AWS_EVENTS,
  begin: () => ANTHROPIC_BEGIN.map(chunk),
  act: (act) => Buffer.concat(anthropicAct(act).map(chunk)),
  end: () => ANTHROPIC_END.map(chunk),
};

const BEDROCK = {
  fresh: 'inputTokens',
  cached: 'cacheReadInputTokens',
  written: 'cacheWriteInputTokens',
  output: 'outputTokens',
};
const bedrock: CountedWire = {
  ...PARTS,
  name: 'bedrock',
  uses: 'uses: bedrock, region: us-east-1, api_key: k',
  model: 'amazon.nova-lite-v1:0',
  believes_zero: ['fresh', 'cached', 'written'],
  is_single: true,
  content_type: AWS_EVENTS,
  begin: () => [eventFrame('messageStart', { role: 'assistant' })],
  act: ({ word, counts }) => {
    const delta = { contentBlockIndex: 0, delta: { text: WORD } };
    return Buffer.concat([
      ...(word ? [eventFrame('contentBlockDelta', delta)] : []),
      ...(counts ? [eventFrame('metadata', { usage: renamed(counts, BEDROCK) })] : []),
    ]);
  },
  end: () => [
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('messageStop', { stopReason: 'end_turn' }),
  ],
};

const GEMINI = {
  prompt: 'promptTokenCount',
  tools: 'toolUsePromptTokenCount',
  cached: 'cachedContentTokenCount',
  output: 'candidatesTokenCount',
  thoughts: 'thoughtsTokenCount',
};
const gemini: CountedWire = {
  ...TOTALS,
  name: 'gemini',
  uses: 'uses: gemini, api_key: k',
  model: 'gemini-2.5-flash',
  prompt: ['prompt', 'tools'],
  classes: ['cached'],
  output: ['output', 'thoughts'],
  believes_zero: ['prompt', 'tools'],
  is_single: true,
  content_type: EVENTS,
  begin: () => [],
  act: ({ word, counts }) =>
    data({
      ...(word && { candidates: [{ index: 0, content: { parts: [{ text: WORD }] } }] }),
      ...(counts && { usageMetadata: renamed(counts, GEMINI) }),
    }),
  end: () => [data({ candidates: [{ index: 0, finishReason: 'STOP' }] })],
};

const responses: CountedWire = {
  ...TOTALS,
  name: 'responses',
  uses: 'uses: openai, api_key: k',
  model: 'gpt-5-pro',
  is_single: false,
  content_type: EVENTS,
  begin: () => [
    data(named('response.created', { response: { status: 'in_progress', usage: null } })),
    data(named('response.output_item.added', { output_index: 0, item: { type: 'message' } })),
  ],
  act: ({ word, counts }) => {
    const { prompt, output, cached, written } = counts ?? {};
    const usage = {
      ...(prompt !== undefined && { input_tokens: prompt }),
      ...(output !== undefined && { output_tokens: output }),
      input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    };
    const delta = named('response.output_text.delta', { output_index: 0, delta: WORD });
    const progress = named('response.in_progress', { response: { usage } });
    return (word ? data(delta) : '') + (counts ? data(progress) : '');
  },
  end: () => [
    data(named('response.completed', { response: { status: 'completed', usage: null } })),
  ],
};

export const WIRES: readonly CountedWire[] = [
  openAi,
  { ...openAi, name: 'azure', uses: 'uses: azure, api_key: k' },
  { ...openAi, name: 'perplexity', uses: 'uses: perplexity, api_key: k', is_single: true },
  responses,
  anthropic,
  bedrock,
  invoke,
  gemini,
  { ...gemini, name: 'vertex', uses: 'uses: vertex, api_key: k' },
];

/** A manifest that sends Claude's own body to Bedrock. */
export const FILES = {
  'invoke.yaml': `name: Invoke
auth: bearer
operations: { chat: { path: /model, codec: bedrock, max: 1 } }
wire: { invoke_claude: true }
`,
};

/** Nano-dollars of a token. */
export const PRICES = { input: 1_000n, cached: 100n, written: 1_250n, output: 10_000n };
const PRICE =
  '{ input_per_million: 1, cached_input_per_million: 0.1, cache_write_per_million: 1.25, ' +
  'output_per_million: 10 }';

/**
 * A gateway before one upstream that speaks all wires, each with two models: `NAME-abort` and
 * `NAME-drain`, by what the upstream does when it is aborted.
 */
export function countedYaml(url: string, max_tokens: number, more = ''): string {
  const providers: string[] = [];
  const models: string[] = [];
  for (const { name: wire, uses, model } of WIRES) {
    for (const on_abort of ['abort', 'drain']) {
      const name = `${wire}-${on_abort}`;
      providers.push(`  ${name}: { ${uses}, base_url: "${url}", on_abort: ${on_abort} }`);
      models.push(`  ${name}:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: ${name}, model: "${model}" }]
    limits: { max_tokens: ${max_tokens} }
    price: ${PRICE}`);
    }
  }
  return `limits: { linger: 20ms${more} }
owners: { acme: { name: Acme } }
providers:
${providers.join('\n')}
models:
${models.join('\n')}
`;
}
