import type { Logger } from 'pino';
import { ClientGone } from './client.js';
import { GatewayError } from './errors.js';
import type { Health } from './health.js';
import { type Context, type Services, type StageMiddleware, type State } from './pipeline.js';
import { bodyOf } from './reply.js';

/**
 * Around all stages of a request: writes what they have made of it, in the one shape for errors,
 * and logs one line. No error leaves it.
 */
export function answering({ log, configuration }: Services, state: Health): StageMiddleware {
  const { client_ms } = configuration.limits;
  return async (ctx, next) => {
    const started = performance.now();
    try {
      if (state.draining) throw drainingError();
      await next();
      writeReply(ctx, client_ms);
    } catch (error) {
      writeError(ctx, error, log);
    }
    logRequest(ctx, log, performance.now() - started);
  };
}

function drainingError(): GatewayError {
  const message = 'The gateway is stopping; send the request again in a moment.';
  return new GatewayError('draining', message, {
    headers: { connection: 'close', 'retry-after': '1' },
  });
}

function writeReply(ctx: Context, client_ms: number): void {
  const { reply, receipt } = ctx.state;
  const text = reply?.kind === 'repeat' ? reply.text : textOf(bodyOf(reply, receipt));
  if (text === undefined || ctx.res.destroyed) return;
  const status = reply && 'status' in reply ? reply.status : undefined;
  // What Koa would do from here on costs as much as a stage, and nothing is left to be decided.
  ctx.respond = false;
  ctx.res.setTimeout(client_ms);
  ctx.res.writeHead(status ?? 200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  ctx.res.end(text);
}

function textOf(body: object | undefined): string | undefined {
  return body && JSON.stringify(body);
}

function writeError(ctx: Context, error: unknown, log: Logger): void {
  const { request_id } = ctx.state;
  if (error instanceof ClientGone || ctx.res.headersSent || ctx.res.destroyed) {
    ctx.respond = false;
    if (!(error instanceof ClientGone)) log.error({ request_id, err: error }, 'a request broke');
    if (!ctx.res.writableEnded) ctx.res.destroy();
    return;
  }
  const { shown, status } = toShow(ctx, error, log);
  ctx.status = status;
  ctx.set(shown.headers);
  ctx.body = shown.toJSON();
}

/** What anybody may see of an error, whatever it is; the log sees all of one that is our fault. */
export function toShow(
  { state }: { state: Pick<State, 'request_id'> },
  error: unknown,
  log: Logger,
): { shown: GatewayError; status: number } {
  const { request_id } = state;
  const shown = error instanceof GatewayError ? error : (refusal(error) ?? internal());
  if (shown.code === 'internal_error') log.error({ request_id, err: error }, 'a request failed');
  return { shown, status: isRefusal(error) ? error.status : shown.status };
}

/** An operator's own stage refuses as in any Koa application, by `ctx.throw(403, message)`. */
function refusal(error: unknown): GatewayError | undefined {
  if (!isRefusal(error)) return undefined;
  return new GatewayError('invalid_request', error.message, { cause: error });
}

function isRefusal(error: unknown): error is Error & { status: number } {
  if (!(error instanceof Error) || error instanceof GatewayError) return false;
  const { status, expose } = error as { status?: unknown; expose?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 && status <= 499;
}

function internal(): GatewayError {
  return new GatewayError('internal_error', 'The gateway failed to handle this request.');
}

function logRequest(ctx: Context, log: Logger, took_ms: number): void {
  const { request_id, endpoint, caller, account_id, model, task, receipt } = ctx.state;
  log.info({
    request_id,
    endpoint,
    status: ctx.res.headersSent ? ctx.res.statusCode : ctx.status,
    took_ms: Math.round(took_ms * 10) / 10,
    account: caller?.account_id ?? account_id,
    model: model?.id ?? task?.task.model,
    cost_nano: receipt?.cost_nano.toString(),
  });
}
