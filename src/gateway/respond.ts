import { encodingOf, writeCorked } from '../http/socket-writes.js';
import { ClientDisconnected, GatewayError } from '../core/errors.js';
import type { Health, LookAtStore } from './probes.js';
import { type Context, type StageMiddleware, type State } from '../pipeline/stage.js';
import { LARGE_BYTES } from '../lib/json-text.js';
import type { RequestMemory } from '../http/memory-budget.js';
import {
  clientDisconnected,
  finalRecord,
  isCut,
  type RequestOutcome,
} from '../pipeline/request-record.js';
import { formatDollars } from '../lib/money.js';
import type { Services } from '../pipeline/services.js';
import type { AccessLog } from '../telemetry/access-log.js';
import { logPublicError } from '../pipeline/public-error.js';
import { UpstreamError } from '../core/upstream-error.js';
import { retryAfterMs, toClientError } from '../upstream/to-client-error.js';
import { StoreUnreachable } from '../store/store-error.js';

/**
 * Runs around all stages of a request. Writes the answer or the error, then records the request or
 * logs one line. Errors have the shape of the endpoint's format, else the common one. It never
 * rejects.
 */
export function respond(
  { log, access_log, records, sinks, configuration, now }: Services,
  state: Health,
  lookAtStore: LookAtStore,
): StageMiddleware {
  const { client_ms } = configuration.limits;
  const { cost } = configuration.headers;
  return async (ctx, next) => {
    const started = performance.now();
    let refused: RequestOutcome | undefined;
    try {
      if (state.phase === 'refusing') throw drainingError();
      if (state.phase === 'closing') ctx.res.shouldKeepAlive = false;
      if (state.store_hangs) throw new StoreUnreachable(undefined, 'the store does not answer');
      await next();
      writeAnswer(ctx, { client_ms, cost });
    } catch (error) {
      if (error instanceof StoreUnreachable) void lookAtStore();
      refused = writeError(ctx, error, { log, client_ms, now });
    }
    const record = finalRecord(ctx.state, refused ?? answered(ctx));
    if (record) {
      if (!record.is_kept) records.take(record);
      for (const sink of sinks) sink.take(record, ctx);
    } else logAccess(ctx, access_log, performance.now() - started, refused);
    if (ctx.state.memory) release(ctx.state.memory, ctx);
  };
}

/** Frees the memory of a request. That of a large answer is freed when its client has read it. */
function release(memory: RequestMemory, { req, res }: Context): void {
  const { socket } = req;
  if (memory.bytes <= LARGE_BYTES || res.writableFinished || res.closed || socket.destroyed) {
    memory.close();
    return;
  }
  const close = (): void => {
    memory.close();
    res.off('close', close);
    socket.off('close', close);
  };
  res.once('close', close);
  // An answer that waits behind another one on its socket emits no `close` of its own.
  socket.once('close', close);
}

function drainingError(): GatewayError {
  const message = 'The gateway is stopping; send the request again in a moment.';
  return new GatewayError('draining', message, {
    headers: { connection: 'close', 'retry-after': '1' },
  });
}

/**
 * Writes the body of an answer, unless its delivery has written it. `cost` adds the cost header.
 */
function writeAnswer(
  ctx: Context,
  { client_ms, cost }: { client_ms: number; cost: boolean },
): void {
  const { res, state } = ctx;
  const text = textOfAnswer(state);
  if (res.headersSent) ctx.respond = false;
  else if (text === undefined) ctx.set('x-request-id', state.request_id);
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

function textOfAnswer({ answer }: State): string | undefined {
  const body = answer?.body();
  return typeof body === 'object' ? JSON.stringify(body) : body;
}

interface TextAnswer {
  status: number;
  text: string;
  client_ms: number;
  headers?: Readonly<Record<string, string>>;
}

/** Writes a whole answer directly to Node: Koa's own way of responding costs as much as a stage. */
function send(ctx: Context, { status, text, client_ms, headers }: TextAnswer): void {
  const { res } = ctx;
  ctx.respond = false;
  const bytes = Buffer.byteLength(text);
  const all: Record<string, string> = {
    'x-request-id': ctx.state.request_id,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(bytes),
  };
  if (ctx.state.headers) Object.assign(all, ctx.state.headers);
  // An operator's own stage may have set the message of another status.
  res.statusMessage = '';
  res.writeHead(status, headers ? Object.assign(all, headers) : all);
  writeCorked(res, text, encodingOf(text, bytes));
  res.end();
  // The kernel has taken most answers by now. A timer is needed only if the client is slow.
  if (res.writableLength > 0) res.setTimeout(client_ms);
}

function answered({ res, status }: Context): RequestOutcome {
  return { status: res.headersSent ? res.statusCode : status, code: null };
}

/** Writes an error and returns its status, even if it goes out as a stream with status 200. */
function writeError(
  ctx: Context,
  error: unknown,
  { log, client_ms, now }: Pick<Services, 'log' | 'now'> & { client_ms: number },
): RequestOutcome | undefined {
  const { request_id, notes } = ctx.state;
  const reported = notes?.client?.reported;
  if (reported) {
    ctx.respond = false;
    return { status: reported.status, code: reported.code };
  }
  if (error instanceof ClientDisconnected || ctx.res.headersSent || ctx.res.destroyed) {
    ctx.respond = false;
    if (!isExpected(error, ctx)) logBroken(ctx, error, log);
    if (!ctx.res.writableEnded) ctx.res.destroy();
    return ctx.res.headersSent ? cutBy(error, ctx) : clientDisconnected;
  }
  const { public_error, status } = logPublicError(request_id, error, log);
  const now_ms = now();
  const own = errorHeaders(public_error, now_ms);
  const stream = errorStream(ctx, public_error, now_ms);
  if (stream !== undefined) {
    send(ctx, { status: 200, text: stream, headers: { ...own, ...EVENTS }, client_ms });
    return { status, code: public_error.code };
  }
  const body = ctx.state.error_body?.(public_error, request_id) ?? public_error;
  send(ctx, { status, text: JSON.stringify(body), headers: own, client_ms });
  return { status, code: public_error.code };
}

/** The headers of an error: a date by which an upstream said when to retry becomes seconds. */
function errorHeaders({ headers }: GatewayError, now_ms: number): Readonly<Record<string, string>> {
  const { 'retry-after': retry_after } = headers;
  if (retry_after === undefined) return headers;
  const wait_ms = retryAfterMs({ retry_after }, now_ms);
  if (wait_ms === undefined) return headers;
  return { ...headers, 'retry-after': String(Math.ceil(wait_ms / 1_000)) };
}

/** Logs why an answer broke off. An upstream's fault is a warning, the gateway's own an error. */
function logBroken({ state }: Context, error: unknown, log: Services['log']): void {
  const { request_id, task, answer } = state;
  if (error instanceof UpstreamError) {
    const provider = task?.task.provider ?? (answer && 'provider' in answer && answer.provider);
    log.warn({ request_id, ...(provider && { provider }), err: error }, 'an answer was cut');
  } else log.error({ request_id, err: error }, 'a request broke');
}

/** The outcome of an answer that an upstream cut: it keeps the status that its client has seen. */
function cutBy(error: unknown, { res }: Context): RequestOutcome | undefined {
  if (!(error instanceof UpstreamError)) return undefined;
  return { status: res.statusCode, code: toClientError(error).code };
}

/**
 * Whether an error needs no log line: the client disconnected, or was refused and does not wait.
 */
function isExpected(error: unknown, { res }: Context): boolean {
  if (error instanceof ClientDisconnected) return true;
  const isRefusal = error instanceof GatewayError && error.code !== 'internal_error';
  return isRefusal && !res.headersSent;
}

/** The headers of a stream that consists of an error. */
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

/**
 * The error as a stream; undefined unless the client asked for one. It asks in the body, or by the
 * `Accept` header if the body was not read.
 */
function errorStream(ctx: Context, error: GatewayError, now_ms: number): string | undefined {
  const { error_stream, request_id, work, model } = ctx.state;
  const wantsStream = work ? work.streams : ctx.req.headers.accept === 'text/event-stream';
  if (!wantsStream) return undefined;
  return error_stream?.(error, { request_id, now_ms, model: model?.id ?? '' });
}

/**
 * Logs a request that leaves no record: one that asks for no work, or one without a known caller.
 */
function logAccess(
  ctx: Context,
  access_log: AccessLog,
  took_ms: number,
  refused: RequestOutcome | undefined,
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
    isCut: isCut({ status, code }),
  });
}
