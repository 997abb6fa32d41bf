import type { Bill } from '../../billing/bill.js';
import type { GatewayError } from '../../core/errors.js';
import { UpstreamError } from '../../core/upstream-error.js';
import { NO_TOKENS } from '../../core/usage.js';
import { logPublicError, publicErrorOf } from '../../pipeline/public-error.js';
import type { Services } from '../../pipeline/services.js';
import type { RequestNotes } from '../../pipeline/request-record.js';
import type { SendContext, Settle } from '../../pipeline/work.js';
import { toClientError } from '../../upstream/to-client-error.js';
import { billFromUsage, estimatedBill, type Terms } from './price.js';
import type { ChatStreamWriter } from './formats/format.js';
import type { ChatStream } from './call.js';
import type { ChatDelta } from './codec.js';
import type { SseWriter } from '../../http/client-connection.js';

const STREAM_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

const EVENTS = 'text/event-stream; charset=utf-8';

const NO_CHARGE: Bill = { usage: NO_TOKENS, cost_nano: 0n, estimated: true };

/**
 * Sends a stream to the client, charges it, and only then sends its last events. After an error the
 * stream ends with an error event; an error of `settle` is also thrown.
 */
export async function deliverStream(
  stream: ChatStream,
  writer: ChatStreamWriter,
  terms: Terms,
  settle: Settle,
  context: SendContext,
): Promise<Bill> {
  const { request_id, notes, services } = context;
  const { limits } = services.configuration;
  const sink = openSink(writer, context);
  try {
    const outcome = await pipeStream(stream, writer, sink, limits, notes);
    recordOutcome(outcome, stream.upstream.provider.name, notes, services);
    const bill = await settle(await streamBill(outcome, writer, terms));
    if (outcome.how === 'cut') fail(sink, writer, cutError(request_id, outcome.error, services));
    else sink.end(outcome.how === 'complete' ? writer.end(bill) : '');
    return bill;
  } catch (error) {
    // The status was sent, so only an event can report that the stream is incomplete.
    fail(sink, writer, publicErrorOf(error));
    throw error;
  }
}

function openSink(
  { wire }: ChatStreamWriter,
  { request_id, client, services }: SendContext,
): SseWriter {
  const { keep_alive_ms, limits } = services.configuration;
  const own = { 'x-request-id': request_id, 'content-type': wire?.content_type ?? EVENTS };
  const headers = Object.assign(own, STREAM_HEADERS);
  return client.openEvents(headers, keep_alive_ms, limits.client_ms, wire?.keep_alive);
}

/** Begins a stream before there is output. Returns a function that ends it with an error. */
export function openStream(
  writer: ChatStreamWriter,
  context: SendContext,
): (error: GatewayError) => void {
  const sink = openSink(writer, context);
  sink.open();
  return (error) => fail(sink, writer, error);
}

function fail(sink: SseWriter, writer: ChatStreamWriter, error: GatewayError): void {
  if (writer.breaks) sink.breakOff(writer.error(error));
  else sink.end(writer.error(error));
}

/** Records the outcome of the upstream. If the client disconnected, the upstream did not fail. */
function recordOutcome(
  outcome: StreamOutcome,
  provider: string,
  notes: RequestNotes,
  { health }: Services,
): void {
  if (outcome.how === 'cut') {
    health.failed(provider, outcome.error);
    notes.streamCut(outcome.error);
  } else {
    health.answered(provider);
    notes.attemptEnded();
  }
}

/**
 * The bill of a stream: all of it if it is complete, and the delivered part, if any, if the
 * upstream cut it. A client that disconnects pays for all that came before, hidden reasoning too,
 * and for what was drained after it.
 */
async function streamBill(
  outcome: StreamOutcome,
  writer: ChatStreamWriter,
  terms: Terms,
): Promise<Bill> {
  const texts = writer.texts();
  if (outcome.how === 'cut') return writer.hasSpoken ? estimatedBill(texts, terms) : NO_CHARGE;
  const { unseen } = outcome;
  const reported = billFromUsage(writer.usage, [...texts, unseen], terms);
  if (outcome.how === 'complete') return reported ?? estimatedBill(texts, terms, unseen);
  const billsOn = terms.upstream.provider.on_abort === 'drain';
  if (!writer.hasSpoken && unseen === '' && !billsOn) return NO_CHARGE;
  const estimate = await estimatedBill(texts, terms, unseen);
  // Some upstreams report the usage so far with each event.
  const isMore = reported !== undefined && reported.cost_nano > estimate.cost_nano;
  return isMore ? { ...reported, estimated: true } : estimate;
}

function cutError(request_id: string, error: unknown, { log }: Services): GatewayError {
  if (error instanceof UpstreamError) return toClientError(error);
  return logPublicError(request_id, error, log).public_error;
}

/**
 * How a stream ended. `disconnected`: the client disconnected, and the rest was not read. `unseen`
 * is the text that came but that the client did not get.
 */
export type StreamOutcome =
  { how: 'complete' | 'disconnected'; unseen: string } | { how: 'cut'; error: unknown };

/** The bytes that are read of a stream after its client has disconnected. */
export interface ReadLimits {
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
  stream: ChatStream,
  writer: ChatStreamWriter,
  sink: SseWriter,
  limits: ReadLimits,
  notes?: RequestNotes,
): Promise<StreamOutcome> {
  const { client, rest, first } = stream;
  let bytes = 0;
  let unseen = '';
  let hasDisconnected = false;
  const hidesReasoning = !writer.shows_reasoning;
  const maxBytes = (): number =>
    client.on_disconnect === 'linger' ? limits.linger_bytes : limits.drain_bytes;
  const take = (deltas: readonly ChatDelta[]): Promise<void> | undefined => {
    if (!client.disconnected) {
      if (hidesReasoning) unseen += reasoningIn(deltas);
      const text = writer.frame(deltas);
      if (notes?.first_token_ms === null && writer.hasSpoken) notes.firstOutput();
      const hasBegun = writer.hasSpoken || unseen !== '';
      if (hasBegun && client.on_disconnect === 'abort') client.on_disconnect = 'linger';
      return text ? sink.write(text) : undefined;
    }
    writer.noteUsage(deltas);
    bytes += weight(deltas);
    // An aborted upstream is paid for what it made until the client disconnected.
    if (client.on_disconnect === 'drain') unseen += textIn(deltas);
    if (client.on_disconnect !== 'abort' && bytes <= maxBytes()) return undefined;
    hasDisconnected = true;
    rest.leave();
    return undefined;
  };
  try {
    await take(first);
    if (!hasDisconnected) await rest.each(take);
    return { how: hasDisconnected ? 'disconnected' : 'complete', unseen };
  } catch (error) {
    return client.disconnected ? { how: 'disconnected', unseen } : { how: 'cut', error };
  }
}

function reasoningIn(deltas: readonly ChatDelta[]): string {
  let text = '';
  for (const { reasoning_content } of deltas) text += reasoning_content ?? '';
  return text;
}

/** All the text of deltas: content, reasoning and tool calls. */
function textIn(deltas: readonly ChatDelta[]): string {
  let text = '';
  for (const { content = '', reasoning_content = '', tool_calls = [] } of deltas) {
    text += content + reasoning_content;
    for (const { function: called } of tool_calls) {
      text += (called.name ?? '') + (called.arguments ?? '');
    }
  }
  return text;
}

/** About the bytes of deltas of any kind. */
function weight(deltas: readonly ChatDelta[]): number {
  return JSON.stringify(deltas).length;
}
