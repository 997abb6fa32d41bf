import { ClientDisconnected, encodingOf, writeCorked } from '../http/client-connection.js';
import { GatewayError } from '../core/errors.js';
import type { Health } from './probes.js';
import { type Context, type StageMiddleware, type State } from '../pipeline/stage.js';
import { LARGE_BYTES } from '../lib/json-text.js';
import type { Room } from '../http/memory-budget.js';
import { clientLeft, finalRecord, type Ending } from '../pipeline/request-record.js';
import { formatDollars } from '../lib/money.js';
import type { Services } from '../pipeline/services.js';
import type { AccessLog } from '../telemetry/access-log.js';
import { publicError } from '../http/public-error.js';
import type { Bill } from '../billing/bill.js';
import type { PaidAnswer } from '../pipeline/work.js';

/**
 * Around all stages of a request: writes what they have made of it, errors in the one shape or in
 * that of the endpoint's format, and records it, or logs one line. No error leaves it.
 */
export function respond(
  { log, access_log, recorder, configuration, now }: Services,
  state: Health,
): StageMiddleware {
  const { client_ms } = configuration.limits;
  const { cost } = configuration.headers;
  return async (ctx, next) => {
    const started = performance.now();
    let refused: Ending | undefined;
    try {
      if (state.draining) throw drainingError();
      await next();
      writeAnswer(ctx, { client_ms, cost });
    } catch (error) {
      refused = writeError(ctx, error, { log, client_ms, now });
    }
    const record = finalRecord(ctx.state, refused ?? answered(ctx));
    if (record) recorder.take(record, ctx);
    else logAccess(ctx, access_log, performance.now() - started, refused);
    if (ctx.state.room) release(ctx.state.room, ctx);
  };
}

/** What is large counts until its client has taken it. */
function release(room: Room, { req, res }: Context): void {
  const { socket } = req;
  if (room.bytes <= LARGE_BYTES || res.writableFinished || res.closed || socket.destroyed) {
    room.close();
    return;
  }
  const close = (): void => {
    room.close();
    res.off('close', close);
    socket.off('close', close);
  };
  res.once('close', close);
  // An answer that waits for the one before it on its socket never hears that the socket closed.
  socket.once('close', close);
}

function drainingError(): GatewayError {
  const message = 'The gateway is stopping; send the request again in a moment.';
  return new GatewayError('draining', message, {
    headers: { connection: 'close', 'retry-after': '1' },
  });
}

/** Writes the body of an answer, with its cost if wanted, unless its delivery has written it. */
function writeAnswer(
  ctx: Context,
  { client_ms, cost }: { client_ms: number; cost: boolean },
): void {
  const { res, state } = ctx;
  const text = textOf(state);
  if (res.headersSent) ctx.respond = false;
  if (res.destroyed) return;
  if (text !== undefined) {
    const { answer } = state;
    const status = answer && 'status' in answer ? answer.status : undefined;
    const { receipt } = state;
    if (!cost || !receipt) return send(ctx, { status: status ?? 200, text, client_ms });
    const headers = { 'tollgate-cost': formatDollars(receipt.cost_nano) };
    send(ctx, { status: status ?? 200, text, client_ms, headers });
  } else if (!state.answer && ctx.respond !== false && ctx.status === 404 && ctx.body == null) {
    throw new GatewayError('not_found', `No stage of ${ctx.method} ${ctx.path} answers.`);
  }
}

function textOf({ answer, receipt }: State): string | undefined {
  if (!answer) return undefined;
  const body = 'deliver' in answer ? billedBody(answer, receipt) : answer.body();
  return typeof body === 'object' ? JSON.stringify(body) : body;
}

function billedBody(answer: PaidAnswer, receipt: Bill | undefined): object | undefined {
  if (receipt) return answer.body(receipt);
  throw new Error('The answer has no bill.');
}

interface Whole {
  status: number;
  text: string;
  client_ms: number;
  headers?: Readonly<Record<string, string>>;
}

/** What Koa would do from here on costs as much as a stage, and nothing is left to be decided. */
function send(ctx: Context, { status, text, client_ms, headers }: Whole): void {
  const { res } = ctx;
  ctx.respond = false;
  const bytes = Buffer.byteLength(text);
  // A call that came straight here has no header of its own yet.
  const all: Record<string, string> = {
    'x-request-id': ctx.state.request_id,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(bytes),
  };
  // A stage of the operator's may have left the words of another status.
  res.statusMessage = '';
  res.writeHead(status, headers ? Object.assign(all, headers) : all);
  writeCorked(res, text, encodingOf(text, bytes));
  res.end();
  // Most answers are with the kernel by now, and only a client that takes none is timed.
  if (res.writableLength > 0) res.setTimeout(client_ms);
}

function answered({ res, status }: Context): Ending {
  return { status: res.headersSent ? res.statusCode : status, code: null };
}

/** Writes an error, and answers its status, also where a stream tells it under another one. */
function writeError(
  ctx: Context,
  error: unknown,
  { log, client_ms, now }: Pick<Services, 'log' | 'now'> & { client_ms: number },
): Ending | undefined {
  const { request_id } = ctx.state;
  if (error instanceof ClientDisconnected || ctx.res.headersSent || ctx.res.destroyed) {
    ctx.respond = false;
    if (!isExpected(error, ctx)) log.error({ request_id, err: error }, 'a request broke');
    if (!ctx.res.writableEnded) ctx.res.destroy();
    return ctx.res.headersSent ? undefined : clientLeft;
  }
  const { shown, status } = publicError(request_id, error, log);
  const stream = errorStream(ctx, shown, now());
  if (stream !== undefined) {
    const headers = { ...shown.headers, ...EVENTS };
    send(ctx, { status: 200, text: stream, headers, client_ms });
    return { status, code: shown.code };
  }
  const { headers } = shown;
  const body = ctx.state.error_body?.(shown, request_id) ?? shown;
  send(ctx, { status, text: JSON.stringify(body), headers, client_ms });
  return { status, code: shown.code };
}

/** Of a client that has left: also that it is refused what it does not wait for any more. */
function isExpected(error: unknown, { res }: Context): boolean {
  if (error instanceof ClientDisconnected) return true;
  const isRefusal = error instanceof GatewayError && error.code !== 'internal_error';
  return isRefusal && !res.headersSent;
}

/** The head of a stream that only tells an error. */
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

/** An error as a stream, where its client asked for one: in its body, or where that is not read. */
function errorStream(ctx: Context, error: GatewayError, now_ms: number): string | undefined {
  const { error_stream, request_id, work, model } = ctx.state;
  const asked = work ? work.streams : ctx.req.headers.accept === 'text/event-stream';
  if (!asked) return undefined;
  return error_stream?.(error, { request_id, now_ms, model: model?.id ?? '' });
}

/** A request without a record: one that asks for no work, or whose caller is not known. */
function logAccess(
  ctx: Context,
  access_log: AccessLog,
  took_ms: number,
  refused: Ending | undefined,
): void {
  const { request_id, caller, account_id, model, task, receipt } = ctx.state;
  const { status, code } = refused ?? answered(ctx);
  access_log.write({
    request_id,
    status,
    call: `${ctx.method} ${ctx.path}`,
    took_ms,
    account: caller?.account_id ?? account_id,
    model: model?.id ?? task?.task.model,
    cost_nano: receipt?.cost_nano,
    uncollected_nano: receipt?.uncollected_nano,
    code,
  });
}
