import type { Bill } from '../../billing/bill.js';
import { GatewayError } from '../../core/errors.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Services } from '../../pipeline/services.js';
import type { Sending, Settle } from '../../pipeline/work.js';
import { toClientError } from '../../upstream/to-client-error.js';
import { billFromUsage, estimatedBill, type Terms } from './bill.js';
import type { ChatStreamWriter } from './formats/format.js';
import { pipeStream, type Ending } from './pipe.js';
import type { ChatAnswer, ChatStream } from './attempt.js';
import { textsOf } from './shown.js';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

const NOTHING: Bill = {
  usage: { prompt_tokens: 0, completion_tokens: 0 },
  cost_nano: 0n,
  estimated: true,
};

/** Charges a whole answer: by the upstream's usage, or by an estimate where that makes no sense. */
export async function chargeAnswer(
  { reply }: ChatAnswer,
  terms: Terms,
  settle: Settle,
): Promise<Bill> {
  const texts = textsOf(reply);
  const bill = billFromUsage(reply.usage, texts, terms) ?? (await estimatedBill(texts, terms));
  return settle(bill);
}

/** Carries a stream to the client, charges it, and only then sends its last words. */
export async function deliverStream(
  stream: ChatStream,
  writer: ChatStreamWriter,
  terms: Terms,
  settle: Settle,
  { request_id, client, services }: Sending,
): Promise<Bill> {
  const { keep_alive_ms, limits } = services.configuration;
  const headers = Object.assign({ 'x-request-id': request_id }, STREAM_HEADERS);
  const sink = client.openEvents(headers, keep_alive_ms, limits.client_ms);
  try {
    const ending = await pipeStream(stream, writer, sink, limits);
    count(ending, stream.upstream.provider.name, services);
    const bill = await settle(await streamBill(ending, writer, terms));
    sink.end(lastWords(ending, writer, bill, services));
    return bill;
  } catch (error) {
    // The status has gone out, so this is the only way left to say that the stream is not whole.
    sink.end(writer.error(publicError(error, services)));
    throw error;
  }
}

/** The upstream did its part where its client left. */
function count(ending: Ending, provider: string, { health }: Services): void {
  if (ending.how === 'cut') health.failed(provider, ending.error);
  else health.answered(provider);
}

/** Who pays for a stream: all of it if it is whole, else what was delivered, if anything was. */
async function streamBill(ending: Ending, writer: ChatStreamWriter, terms: Terms): Promise<Bill> {
  const texts = writer.texts();
  if (ending.how === 'complete') {
    return billFromUsage(writer.usage, texts, terms) ?? (await estimatedBill(texts, terms));
  }
  return writer.hasSpoken ? estimatedBill(texts, terms) : NOTHING;
}

function lastWords(
  ending: Ending,
  writer: ChatStreamWriter,
  bill: Bill,
  services: Services,
): string {
  if (ending.how === 'complete') return writer.end(bill);
  return ending.how === 'cut' ? writer.error(publicError(ending.error, services)) : '';
}

function publicError(error: unknown, { log }: Services): GatewayError {
  if (error instanceof UpstreamError) return toClientError(error);
  if (error instanceof GatewayError) return error;
  log.error({ err: error }, 'a stream broke');
  return new GatewayError('internal_error', 'The gateway failed in mid-stream.');
}
