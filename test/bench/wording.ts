/**
 * What the bench says and hears: a chat call of about 1 KB, an answer of about 0.6 KB, and streams
 * whose text deltas each hold one `TICK`, a byte that stands nowhere else, so that events can be
 * counted whatever a system does to the framing.
 */
export const TICK = '~';

export interface Work {
  kind: Kind;
  connections: number;
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

/** The model's name tells the upstream what to answer: `bench-EVENTS-GAP_MS`. */
export function modelOf(work: Work): string {
  return `bench-${eventsOf(work)}-${gapOf(work)}`;
}

/** The inverse of `modelOf`, on the text of a request. */
export function orderOf(body: string): { events: number; gap_ms: number } {
  const found = /"bench-(\d+)-(\d+)"/.exec(body);
  return { events: Number(found?.[1] ?? 0), gap_ms: Number(found?.[2] ?? 0) };
}

export function requestBody(work: Work): string {
  const sentence = 'Count the boats that lie in the harbour, and say which of them came first. ';
  return JSON.stringify({
    model: modelOf(work),
    messages: [
      { role: 'system', content: 'You are a harbour master who answers in one sentence.' },
      { role: 'user', content: sentence.repeat(10) },
    ],
    max_tokens: 256,
    temperature: 0.2,
    ...(work.kind !== 'json' && { stream: true, stream_options: { include_usage: true } }),
  });
}

const USAGE = { prompt_tokens: 192, completion_tokens: 64, total_tokens: 256 };
const HEAD = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'bench' };

export function answerBody(): string {
  const content = 'Four boats lie in the harbour, and the oldest of them came in first. '.repeat(5);
  return JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: USAGE,
  });
}

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
