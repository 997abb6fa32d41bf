import { Stream } from 'node:stream';
import type { Logger } from 'pino';
import { completion } from './chat/answer.js';
import { ClientGone } from './client.js';
import { GatewayError } from './errors.js';
import type { Health } from './health.js';
import { fact, type Context, type Services, type StageMiddleware } from './pipeline.js';

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
      writeReply(ctx);
    } catch (error) {
      writeError(ctx, error, log);
    }
    // What is written whole is not waited for by anyone: a client that does not take it is let go.
    if (ctx.respond !== false && !(ctx.body instanceof Stream)) ctx.res.setTimeout(client_ms);
    logRequest(ctx, log, performance.now() - started);
  };
}

function drainingError(): GatewayError {
  const message = 'The gateway is stopping; send the request again in a moment.';
  return new GatewayError('draining', message, {
    headers: { connection: 'close', 'retry-after': '1' },
  });
}

function writeReply(ctx: Context): void {
  const { reply, receipt } = ctx.state;
  if (reply?.kind === 'document') {
    if (reply.status !== undefined) ctx.status = reply.status;
    ctx.body = reply.body;
  } else if (reply?.kind === 'chat') {
    const bill = fact(ctx, 'receipt');
    if ('usage' in bill) ctx.body = completion(reply.heading, reply.reply, bill.usage);
  } else if (reply?.kind === 'task') {
    ctx.body = reply.body(receipt && 'task' in receipt ? receipt.task : reply.task);
  }
}

function writeError(ctx: Context, error: unknown, log: Logger): void {
  const { request_id } = ctx.state;
  if (error instanceof ClientGone || ctx.res.headersSent || ctx.res.destroyed) {
    ctx.respond = false;
    if (!(error instanceof ClientGone)) log.error({ request_id, err: error }, 'a request broke');
    if (!ctx.res.writableEnded) ctx.res.destroy();
    return;
  }
  const shown = error instanceof GatewayError ? error : internal();
  if (shown !== error) log.error({ request_id, err: error }, 'a request failed inside');
  ctx.status = shown.status;
  ctx.set(shown.headers);
  ctx.body = shown.toJSON();
}

function internal(): GatewayError {
  return new GatewayError('internal_error', 'The gateway failed to handle this request.');
}

function logRequest(ctx: Context, log: Logger, took_ms: number): void {
  const { request_id, endpoint, caller, model, task, receipt } = ctx.state;
  log.info({
    request_id,
    endpoint,
    status: ctx.res.headersSent ? ctx.res.statusCode : ctx.status,
    took_ms: Math.round(took_ms * 10) / 10,
    account: caller?.account_id,
    model: model?.id ?? task?.task.model,
    cost_nano: receipt?.cost_nano.toString(),
  });
}
