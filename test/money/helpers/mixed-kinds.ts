import type { ServerResponse } from 'node:http';
import { chatJson, chatSse, play, sse, type Received } from '../../helpers/upstream.js';
import type { AttemptFault, RequestFlag } from '../../../src/core/request-record.js';

/** How a client treats its call. */
type Manner = 'reads' | 'leaves-early' | 'leaves-in-stream' | 'sends-twice';

/** What the record of a call must tell, and what the client sees of it. */
export interface Kind {
  /** The share of all calls. */
  weight: number;
  path: string;
  body: Readonly<Record<string, unknown>>;
  manner: Manner;
  /** The key it is sent with. */
  as: 'rich' | 'poor' | 'nobody';
  /** The statuses that its client may see; the first is that of its record. */
  statuses: readonly number[];
  endpoint: string;
  code: string | null;
  model: string | null;
  provider: string | null;
  faults: readonly (AttemptFault | null)[];
  /** Prompt and completion; undefined where the gateway has to estimate them. */
  tokens: readonly [number | null, number | null] | undefined;
  /** In nano-dollars; undefined where it follows from an estimate. */
  cost_nano: bigint | undefined;
  streamed: boolean;
  flags: readonly RequestFlag[];
}

/** The model, chat at the prices of `MIXED_YAML`, that the last word of the prompt steers. */
function chat(word: string, rest: Partial<Kind> = {}): Kind {
  const { body, ...more } = rest;
  return {
    weight: 3,
    path: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: `call 0 ${word}` }], ...body },
    manner: 'reads',
    as: 'rich',
    statuses: [200],
    endpoint: 'chat',
    code: null,
    model: 'm',
    provider: 'one',
    faults: [null],
    tokens: [9, 5],
    cost_nano: 4_350n,
    streamed: false,
    flags: [],
    ...more,
  };
}

function refused(word: string, status: number, code: string, rest: Partial<Kind>): Kind {
  const nothing = { tokens: [null, null], cost_nano: 0n, faults: [], provider: null } as const;
  return chat(word, { statuses: [status], code, ...nothing, ...rest });
}

const STREAM = { body: { stream: true }, streamed: true } as const;
const GUESS = { tokens: undefined, cost_nano: undefined } as const;

export const KINDS = {
  answered: chat('plain', { weight: 30 }),
  streamed: chat('plain', { ...STREAM, weight: 15, tokens: [9, 2], cost_nano: 2_550n }),
  messages: chat('plain', {
    path: '/v1/messages',
    endpoint: 'messages',
    body: { max_tokens: 50 },
    weight: 5,
  }),
  embedded: chat('', {
    path: '/v1/embeddings',
    endpoint: 'embeddings',
    body: { model: 'e', messages: undefined, input: 'some words' },
    model: 'e',
    tokens: [9, 0],
    cost_nano: 900n,
    weight: 5,
  }),
  drawn: chat('', {
    path: '/v1/images/generations',
    endpoint: 'images',
    body: { model: 'i', messages: undefined, prompt: 'a cat', response_format: 'b64_json' },
    model: 'i',
    tokens: [0, 0],
    cost_nano: 40_000_000n,
  }),
  free: chat('plain', { body: { model: 'free' }, model: 'free', cost_nano: 0n }),
  'fallen back': chat('fail', {
    provider: 'two',
    faults: ['missing', null],
    flags: ['fallback', 'moved'],
  }),
  rejected: refused('refuse', 400, 'invalid_request', { faults: ['rejected'], provider: 'one' }),
  failed: refused('broken', 502, 'upstream_error', {
    faults: ['missing', 'overloaded'],
    provider: 'two',
  }),
  'rate limited upstream': refused('limited', 502, 'upstream_error', {
    faults: ['missing', 'rate_limited'],
    provider: 'two',
  }),
  invalid: refused('plain', 400, 'invalid_request', { body: { temperature: 'hot' }, model: null }),
  unknown: refused('plain', 400, 'model_not_found', { body: { model: 'nothing' }, model: null }),
  unpaid: refused('plain', 402, 'insufficient_balance', { as: 'poor' }),
  'without a key': refused('plain', 401, 'invalid_api_key', { as: 'nobody', statuses: [401, 429] }),
  cut: chat('cut', {
    ...STREAM,
    ...GUESS,
    code: 'upstream_error',
    faults: ['broken'],
    flags: ['estimated', 'cut'],
  }),
  'left early': refused('wait', 499, 'client_left', {
    manner: 'leaves-early',
    faults: ['client_left'],
    flags: ['client_left'],
    provider: 'one',
  }),
  'left in the stream': chat('endless', {
    ...STREAM,
    ...GUESS,
    manner: 'leaves-in-stream',
    flags: ['estimated', 'client_left'],
  }),
  repeated: chat('plain', { manner: 'sends-twice' }),
  /** Not sent: what the second sending of a repeated call leaves. */
  replayed: chat('plain', {
    weight: 0,
    provider: null,
    faults: [],
    tokens: [null, null],
    cost_nano: 0n,
    flags: ['replayed'],
  }),
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

/** The kinds in turn, each by its weight, spread evenly. */
export function kindAt(at: number): KindName {
  return DECK[at % DECK.length] ?? 'answered';
}

const DECK: readonly KindName[] = KIND_NAMES.flatMap((name) =>
  Array.from({ length: KINDS[name].weight }, (_, at) => ({ name, at: at / KINDS[name].weight })),
)
  .toSorted((a, b) => a.at - b.at)
  .map(({ name }) => name);

interface Asked {
  messages?: { content: string }[];
  stream?: boolean;
}

/** Called with the number of a call that its client will leave, when the upstream has it. */
export type Arrived = (call: string) => void;

/** What both upstreams do: the last word of the prompt says it, and `one` is asked first. */
export function upstreamOf(name: 'one' | 'two', arrived: Arrived) {
  return async ({ json, path }: Received, response: ServerResponse): Promise<void> => {
    const { messages, stream } = json as Asked;
    if (path.endsWith('/embeddings')) return play(EMBEDDING, response);
    if (path.endsWith('/images/generations')) return play(IMAGE, response);
    const [word = '', call = ''] = messages?.at(-1)?.content.split(' ').toReversed() ?? [];
    switch (name === 'one' || FAILS_TWICE.has(word) ? word : 'plain') {
      case 'fail':
        return play({ status: 404, body: error('None.') }, response);
      case 'broken':
        return play({ status: name === 'one' ? 404 : 503, body: error('It broke.') }, response);
      case 'limited':
        // A 404 lets no upstream rest, so that the other calls are answered by this one.
        return play({ status: name === 'one' ? 404 : 429, body: error('No.') }, response);
      case 'refuse':
        return play({ status: 400, body: error('The temperature is wrong.') }, response);
      case 'cut':
        return play({ ...chatSse(['one', ' two']), destroyAfter: 3 }, response);
      case 'wait':
        arrived(call);
        return;
      case 'endless':
        arrived(call);
        return play(ENDLESS, response);
      default:
        return play(stream ? chatSse(['one', ' two']) : chatJson('one two'), response);
    }
  };
}

const FAILS_TWICE: ReadonlySet<string> = new Set(['broken', 'limited']);

function error(message: string): string {
  return JSON.stringify({ error: { message, type: 'test' } });
}

const delta = (content: string): object => ({
  id: 'chatcmpl-fake',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'fake-1',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
/** A stream that says something, and then nothing more. */
const ENDLESS = sse([delta('one'), delta(' two'), new Promise(() => undefined)]);

const JSON_TYPE = { 'content-type': 'application/json' };
const EMBEDDING = {
  headers: JSON_TYPE,
  body: JSON.stringify({
    object: 'list',
    model: 'fake-1',
    data: [{ object: 'embedding', index: 0, embedding: [0.25, 0.5] }],
    usage: { prompt_tokens: 9, total_tokens: 9 },
  }),
};
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE = {
  headers: JSON_TYPE,
  body: JSON.stringify({ created: 1_700_000_000, data: [{ b64_json: PNG }] }),
};
