import type { Bill } from '../../billing/bill.js';
import { ClientDisconnected, isStop, type GatewayError } from '../../core/errors.js';
import { UpstreamError } from '../../core/upstream-error.js';
import { NO_TOKENS } from '../../core/usage.js';
import { logPublicError } from '../../pipeline/public-error.js';
import type { Services } from '../../pipeline/services.js';
import type { RequestNotes } from '../../pipeline/request-record.js';
import type { PaidAnswer, SendContext } from '../../pipeline/work.js';
import { toClientError } from '../../upstream/to-client-error.js';
import { CallsInTurn } from './tool-call-order.js';
import { chatBill, type Terms } from './price.js';
import type { ChoiceText } from './usage-report.js';
import type { ChatStreamWriter } from './formats/format.js';
import type { ChatReplyStream } from './call.js';
import type { ChatDelta } from './codec.js';
import type { SseWriter } from '../../http/sse-writer.js';

const STREAM_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

const EVENTS = 'text/event-stream; charset=utf-8';

const NO_CHARGE: Bill = { usage: NO_TOKENS, cost_nano: 0n, estimated: true };

/**
 * The answer of a stream that has begun. `finish` sends all but its last events, and `close` sends
 * those, which are an error if the stream was cut.
 */
export function streamedAnswer(
  stream: ChatReplyStream,
  ignored: PaidAnswer['ignored'],
  writer: ChatStreamWriter,
  terms: Terms,
  context: SendContext,
): PaidAnswer {
  const { request_id, notes, services } = context;
  const { name: provider } = stream.upstream.provider;
  let close: () => void;
  return {
    provider,
    ignored,
    streams: true,
    finish: async () => {
      const sink = openEvents(writer, context);
      const piped = await pipeStream(stream, writer, sink, services.configuration.limits, notes);
      const due = await streamBill(piped, writer, terms);
      const { outcome, text } = lastEvents(piped, writer, due, (error) =>
        cutError(request_id, error, services),
      );
      recordOutcome(outcome, provider, notes, services);
      close = () => sink.end(text, 'error' in outcome);
      return outcome.how === 'failed' ? NO_CHARGE : due;
    },
    close: () => close(),
    body: () => undefined,
  };
}

/**
 * The last events of a stream, written before it is charged: a fault of the writer is an outcome of
 * its own. The client of a writer that cannot even write the error gets no event.
 */
function lastEvents(
  outcome: StreamOutcome,
  writer: ChatStreamWriter,
  bill: Bill,
  publicError: (error: unknown) => GatewayError,
): { outcome: StreamOutcome; text: string } {
  try {
    if ('error' in outcome) return { outcome, text: writer.error(publicError(outcome.error)) };
    return { outcome, text: outcome.how === 'complete' ? writer.end(bill) : '' };
  } catch (error) {
    const failed = { how: 'failed' as const, error };
    if (outcome.how === 'failed') return { outcome, text: '' };
    return lastEvents(failed, writer, bill, publicError);
  }
}

/** Begins the stream to the client, unless it has begun. */
export function openEvents(
  writer: ChatStreamWriter,
  { request_id, client, services }: SendContext,
): SseWriter {
  const { wire, breaks } = writer;
  const { keep_alive_ms, limits } = services.configuration;
  const own = { 'x-request-id': request_id, 'content-type': wire?.content_type ?? EVENTS };
  const head = {
    headers: Object.assign(own, STREAM_HEADERS),
    keep_alive: wire?.keep_alive,
    error: (error: GatewayError) => writer.error(error),
    breaks,
  };
  return client.openEvents(head, keep_alive_ms, limits.client_ms);
}

/**
 * Records the outcome of the upstream, which did not fail if the client disconnected or the gateway
 * failed.
 */
function recordOutcome(
  outcome: StreamOutcome,
  provider: string,
  notes: RequestNotes,
  { health }: Services,
): void {
  if ('error' in outcome) notes.streamCut(outcome.error);
  else notes.attemptEnded();
  if (outcome.how === 'cut') health.failed(provider, outcome.error);
  else if (outcome.how !== 'failed') health.answered(provider);
}

/**
 * The bill of a stream: all of it if it is complete, the delivered part, if any, if the upstream
 * cut it, and nothing if the gateway itself failed. A client that disconnects pays for all that
 * came before, hidden reasoning too, and for what was drained after it.
 */
async function streamBill(
  outcome: StreamOutcome,
  writer: ChatStreamWriter,
  terms: Terms,
): Promise<Bill> {
  const texts = writer.texts();
  if ('error' in outcome) {
    const isOwed = outcome.how === 'cut' && writer.hasSpoken;
    return isOwed ? chatBill(texts, terms, false) : NO_CHARGE;
  }
  const { how, unseen } = outcome;
  const billsOn = terms.upstream.provider.on_abort === 'drain';
  const isNothing = !writer.hasSpoken && unseen.length === 0 && !billsOn;
  if (how === 'disconnected' && isNothing) return NO_CHARGE;
  return chatBill([...texts, ...unseen], terms, how === 'complete');
}

function cutError(request_id: string, error: unknown, { log }: Services): GatewayError {
  if (error instanceof UpstreamError) return toClientError(error);
  return logPublicError(request_id, error, log).public_error;
}

/**
 * How a stream ended. `disconnected`: the client disconnected, and the rest was not read. `unseen`
 * is the text that came but that the client did not get. `cut`: the upstream failed, or the gateway
 * stops. `failed`: a fault of the gateway itself.
 */
export type StreamOutcome =
  | { how: 'complete' | 'disconnected'; unseen: ChoiceText[] }
  | { how: 'cut' | 'failed'; error: unknown };

/**
 * The bytes that are read of a stream after its client has disconnected, and those that may wait
 * for their turn.
 */
export interface ReadLimits {
  event_bytes: number;
  linger_bytes: number;
  drain_bytes: number;
}

/**
 * Pipes a stream from the upstream to the client, no faster than the client reads. After the client
 * disconnects, it stops, or reads on without writing to learn the usage. It reads on even if the
 * upstream stops billing when aborted, but only for a moment (`linger`): otherwise a client could
 * disconnect early to pay less.
 */
export async function pipeStream(
  stream: ChatReplyStream,
  writer: ChatStreamWriter,
  sink: SseWriter,
  limits: ReadLimits,
  notes?: RequestNotes,
): Promise<StreamOutcome> {
  const { client, rest, first, visible } = stream;
  const isOrdered = writer.in_turn === true && visible.tools;
  const order = isOrdered ? new CallsInTurn(limits.event_bytes, client.memory) : undefined;
  let bytes = 0;
  const unseen = new Map<number, string>();
  let hasDisconnected = false;
  const hidesReasoning = !writer.shows_reasoning;
  const maxBytes = (): number =>
    client.on_disconnect === 'linger' ? limits.linger_bytes : limits.drain_bytes;
  const hide = (deltas: readonly ChatDelta[], textOf: (delta: ChatDelta) => string): void => {
    for (const delta of deltas) {
      const text = textOf(delta);
      if (text === '') continue;
      const { index = 0 } = delta;
      unseen.set(index, (unseen.get(index) ?? '') + text);
    }
  };
  const unseenTexts = (): ChoiceText[] => {
    // What waits when the client disconnects has come before it did.
    hide(order?.waiting ?? [], textIn);
    return Array.from(unseen, ([index, text]) => ({ index, text }));
  };
  const take = (deltas: readonly ChatDelta[]): Promise<void> | undefined => {
    if (!client.disconnected) {
      const ready = order?.take(deltas) ?? deltas;
      if (hidesReasoning) hide(ready, reasoningIn);
      const text = writer.frame(ready);
      if (notes?.first_token_ms === null && writer.hasSpoken) notes.firstOutput();
      const hasBegun = writer.hasSpoken || unseen.size > 0;
      if (hasBegun && client.on_disconnect === 'abort') client.on_disconnect = 'linger';
      return text ? sink.write(text) : undefined;
    }
    bytes += weight(deltas);
    // An aborted upstream is paid for what it made until the client disconnected.
    if (client.on_disconnect === 'drain') hide(deltas, textIn);
    if (client.on_disconnect !== 'abort' && bytes <= maxBytes()) return undefined;
    hasDisconnected = true;
    rest.leave();
    return undefined;
  };
  try {
    await take(first);
    if (!hasDisconnected) await rest.each(take);
    return { how: hasDisconnected ? 'disconnected' : 'complete', unseen: unseenTexts() };
  } catch (error) {
    if (isOwnFault(error)) return { how: 'failed', error };
    if (!client.disconnected) return { how: 'cut', error };
    return { how: 'disconnected', unseen: unseenTexts() };
  }
}

/** Whether the gateway has failed, and not the upstream, nor the client, nor because it stops. */
function isOwnFault(error: unknown): boolean {
  if (error instanceof UpstreamError || error instanceof ClientDisconnected) return false;
  return !isStop(error);
}

function reasoningIn({ reasoning_content = '' }: ChatDelta): string {
  return reasoning_content;
}

/** All the text of a delta: content, reasoning and tool calls. */
function textIn({ content = '', reasoning_content = '', tool_calls = [] }: ChatDelta): string {
  let text = content + reasoning_content;
  for (const { function: called } of tool_calls) {
    text += (called.name ?? '') + (called.arguments ?? '');
  }
  return text;
}

/** About the bytes of deltas of any kind. */
function weight(deltas: readonly ChatDelta[]): number {
  return JSON.stringify(deltas).length;
}
