import type { Buffer } from 'node:buffer';

/** Stands once in each text delta of a stream and nowhere else, so that a load counts events. */
export const TICK = '~';

export const FORMATS = ['chat', 'messages', 'responses'] as const;
/** An API: OpenAI's chat completions, Anthropic's Messages or OpenAI's Responses. */
export type Format = (typeof FORMATS)[number];

export interface Work {
  kind: Kind;
  connections: number;
  /** What the clients speak, and what the upstream does. */
  format: Format;
  upstream_format: Format;
  /** The size of an agent's turn; without it, a call of about 1 KB. */
  turn_bytes: number | undefined;
  /** Calls a second over all connections; without it, each sends when it is answered. */
  rate: number | undefined;
}

/**
 * `json`: whole answers. `stream`: events some milliseconds apart, each in its own packet, at a
 * rate that leaves every system room; each bears its share of the call. `long`: the same, so many
 * that no call begins or ends in the usual measured time, which leaves what an event costs by
 * itself. `burst`: streams whose events all come at once.
 */
export const KINDS = ['json', 'stream', 'long', 'burst'] as const;
export type Kind = (typeof KINDS)[number];

const EVENTS = { json: 0, stream: 50, long: 250, burst: 50 };
/** Over all connections, so that CPU per event is measured below saturation. */
const EVENTS_PER_SECOND = 3_000;
const LEAST_GAP_MS = 2;

/** Text deltas in one answer; none in a JSON one. */
export function eventsOf({ kind }: Work): number {
  return EVENTS[kind];
}

/** Whether the events of a kind come one by one, so that they never keep a system busy. */
export function isSparse(kind: Kind): boolean {
  return kind === 'stream' || kind === 'long';
}

/** Milliseconds between two events of one stream. */
export function gapOf({ kind, connections }: Work): number {
  if (!isSparse(kind)) return 0;
  return Math.max(LEAST_GAP_MS, Math.round((connections * 1_000) / EVENTS_PER_SECOND));
}

/**
 * The model's name tells the upstream what to answer, `bench-EVENTS-GAP_MS`, and a gateway by its
 * end which API to ask, where that is not chat.
 */
export function modelOf(work: Work): string {
  const { upstream_format } = work;
  const end = upstream_format === 'chat' ? '' : `-${upstream_format}`;
  return `bench-${eventsOf(work)}-${gapOf(work)}${end}`;
}

/** The inverse of `modelOf`, on the bytes of a request. */
export function orderOf(body: Buffer): { events: number; gap_ms: number } {
  const start = body.indexOf('"bench-');
  const found = /^"bench-(\d+)-(\d+)/.exec(body.toString('latin1', start, start + 64));
  return { events: Number(found?.[1] ?? 0), gap_ms: Number(found?.[2] ?? 0) };
}

const USAGE = { prompt_tokens: 192, completion_tokens: 64, total_tokens: 256 };
const HEAD = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'bench' };

const ANSWER = 'Four boats lie in the harbour, and the oldest of them came in first. '.repeat(5);

/** A whole answer of about 0.6 KB. */
export function answerBody(format: Format): string {
  return JSON.stringify(ANSWERS[format]);
}

const ANSWERS = {
  chat: {
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
    usage: USAGE,
  },
  messages: {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [{ type: 'text', text: ANSWER }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 192, output_tokens: 64 },
  },
  responses: {
    id: 'resp_bench',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    model: 'bench',
    output: [
      {
        id: 'item_bench',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: ANSWER, annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 192,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 64,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 256,
    },
  },
};

function event(choices: unknown[], more: object = {}): string {
  const chunk = { ...HEAD, object: 'chat.completion.chunk', choices, ...more };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function choice(delta: object, finish_reason: string | null = null): object {
  return { index: 0, delta, finish_reason };
}

export function textEvent(content: string): string {
  return event([choice({ content })]);
}

export const FIRST_EVENT = event([choice({ role: 'assistant', content: '' })]);
export const TEXT_EVENT = textEvent(`boat${TICK}`);
export const LAST_EVENTS =
  event([choice({}, 'stop')]) + event([], { usage: USAGE }) + 'data: [DONE]\n\n';
