import { believedBill, estimatedBill, type Terms } from './bill.js';
import { GatewayError } from '../../core/errors.js';
import type { Context, Services } from '../../pipeline/stage.js';
import { refusal } from '../../upstream/to-client-error.js';
import { DONE, event, Framer } from './formats/openai-chunks.js';
import type { ChatAnswer, ChatStream } from './send.js';
import { pump, type Ending } from './pipe.js';
import { Sink } from './sse-response.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Bill } from '../../billing/bill.js';
import { textsOf } from './shown.js';

/** Commits a charge, and answers the bill as it was paid. Only then an answer goes out whole. */
export type Settle = (bill: Bill) => Promise<Bill>;

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
  const bill = believedBill(reply.usage, texts, terms) ?? (await estimatedBill(texts, terms));
  return settle(bill);
}

/** Carries a stream to the client, charges it, and only then sends its last words. */
export async function carryStream(
  ctx: Context,
  stream: ChatStream,
  terms: Terms,
  settle: Settle,
  services: Services,
): Promise<Bill> {
  const { keep_alive_ms, limits } = services.configuration;
  const framer = new Framer(stream.heading, stream.shown);
  ctx.respond = false;
  const headers = Object.assign({ 'x-request-id': ctx.state.request_id }, STREAM_HEADERS);
  const sink = new Sink(ctx.res, headers, keep_alive_ms, limits.client_ms);
  try {
    const ending = await pump(stream, framer, sink, limits);
    count(ending, stream.upstream.provider.name, services);
    const bill = await settle(await streamBill(ending, framer, terms));
    sink.end(lastWords(ending, framer, bill, services));
    return bill;
  } catch (error) {
    // The status has gone out, so this is the only way left to say that the stream is not whole.
    sink.end(errorEvent(error, services));
    throw error;
  }
}

/** The upstream did its part where its client left. */
function count(ending: Ending, provider: string, { outcomes }: Services): void {
  if (ending.how === 'cut') outcomes.failed(provider, ending.error);
  else outcomes.answered(provider);
}

/** Who pays for a stream: all of it if it is whole, else what was delivered, if anything was. */
async function streamBill(ending: Ending, framer: Framer, terms: Terms): Promise<Bill> {
  const texts = framer.texts();
  if (ending.how === 'complete') {
    return believedBill(framer.usage, texts, terms) ?? (await estimatedBill(texts, terms));
  }
  return framer.hasSpoken ? estimatedBill(texts, terms) : NOTHING;
}

function lastWords(ending: Ending, framer: Framer, bill: Bill, services: Services): string {
  if (ending.how === 'complete') return framer.final(bill.usage) + DONE;
  return ending.how === 'cut' ? errorEvent(ending.error, services) : '';
}

function errorEvent(error: unknown, { log }: Services): string {
  if (error instanceof UpstreamError) return event(JSON.stringify(refusal(error)));
  if (error instanceof GatewayError) return event(JSON.stringify(error));
  log.error({ err: error }, 'a stream broke');
  const internal = new GatewayError('internal_error', 'The gateway failed in mid-stream.');
  return event(JSON.stringify(internal));
}
