import { ClientConnection } from '../http/client-connection.js';
import type { Configuration } from '../core/configuration.js';
import { ClientDisconnected, OptionError } from '../core/errors.js';
import { headerSafe, ignoredHeader } from '../http/ignored-header.js';
import type { Modalities, Operation } from '../pipeline/modality.js';
import {
  fact,
  formatOption,
  requestMemoryOf,
  type Context,
  type Stage,
  type State,
} from '../pipeline/stage.js';
import { logPublicError, publicErrorOf } from '../pipeline/public-error.js';
import { RequestNotes } from '../pipeline/request-record.js';
import type { Services } from '../pipeline/services.js';
import { UpstreamError } from '../core/upstream-error.js';
import { upstreamFault } from '../telemetry/plain-error.js';
import { isRetryable, toClientError } from '../upstream/to-client-error.js';
import type { UpstreamAttempt } from '../core/request-record.js';
import type { Upstream } from '../core/model.js';
import {
  wholeAnswer,
  type Answer,
  type PaidAnswer,
  type SendContext,
  type Work,
} from '../pipeline/work.js';

/**
 * Runs the operation that its option names. Most send the work of the request to its upstreams, one
 * after another, until one answers.
 */
export function transform(modalities: Modalities): Stage {
  const operations = new Map(
    [...modalities.values()].flatMap((modality) =>
      modality.operations.map((operation) => [operation.name, operation] as const),
    ),
  );
  return {
    name: 'transform',
    shape: (option) => {
      const { name, shape, format } = operationOf(operations, option);
      return { ...shape, answers: name, ...(format !== undefined && { format }) };
    },
    create: (option, services) => {
      const { run = sendWork } = operationOf(operations, option);
      const { limits } = services.configuration;
      const setUpstreamHeaders = upstreamHeaders(services.configuration);
      return async (ctx, next) => {
        const { state } = ctx;
        const client = new ClientConnection(ctx.req, ctx.res, limits);
        // The body may be large, and the work replaces it.
        state.request = undefined;
        client.memory = requestMemoryOf(state, services);
        client.account_id = state.caller?.account_id ?? null;
        client.may_retry = state.claim !== undefined;
        if (state.notes) state.notes.client = client;
        services.inflight.add(client);
        try {
          const answer = await run(state, client, services);
          state.answer = answer;
          if ('ignored' in answer && answer.ignored?.length) nameIgnored(ctx, answer.ignored);
          setUpstreamHeaders?.(ctx);
          await next();
        } catch (error) {
          // The answer is not read any further, so its upstream call is aborted.
          client.stop(new ClientDisconnected());
          client.failEvents(publicErrorOf(error));
          setUpstreamHeaders?.(ctx);
          throw error;
        } finally {
          services.inflight.delete(client);
          client.close();
        }
      };
    },
  };
}

/** Returns a function that sets the headers about upstreams; undefined if both are turned off. */
function upstreamHeaders({ headers }: Configuration): ((ctx: Context) => void) | undefined {
  const { upstream, attempts } = headers;
  if (!upstream && !attempts) return undefined;
  return (ctx) => {
    const tried = ctx.state.notes?.attempts ?? [];
    const last = tried.at(-1);
    if (!last) return;
    if (upstream && last.fault === null) ctx.set('tollgate-upstream', headerSafe(last.provider));
    if (attempts) ctx.set('tollgate-attempts', String(tried.length));
  };
}

/** Adds the fields that the chosen upstream does not accept to the header `tollgate-ignored`. */
function nameIgnored(ctx: Context, more: readonly string[]): void {
  const names = new Set([...(ctx.state.work?.ignored ?? []), ...more.map(headerSafe)]);
  ctx.set('tollgate-ignored', ignoredHeader([...names]));
}

function operationOf(operations: ReadonlyMap<string, Operation>, option: unknown): Operation {
  const found = operations.get(String(option));
  if (found) return found;
  throw new OptionError(`${formatOption(option)} is not an operation`, [...operations.keys()]);
}

/** Sends the work of a request. Throws as `askEach` does. */
function sendWork(state: State, client: ClientConnection, services: Services): Promise<Answer> {
  const { request_id, endpoint, notes = new RequestNotes() } = state;
  const work = fact(state, 'work');
  const parties = {
    caller: fact(state, 'caller'),
    hold: fact(state, 'hold'),
    claim: state.claim,
    client,
  };
  const context = { request_id, endpoint, ...parties, notes, services };
  if (work.streams && work.openStream) return askForStream(work, context);
  return work.abandon ? askOrAbandon(work, context) : askEach(work, context);
}

/**
 * Like `askEach`, for a client that waits for a stream. If no upstream answers soon, the stream
 * begins with keep-alives: proxies cut silent connections. It then also ends with the error.
 */
async function askForStream(work: Work, context: SendContext): Promise<Answer> {
  const { request_id, client, services } = context;
  const timer = setTimeout(() => {
    if (!client.disconnected) work.openStream?.(context);
  }, services.configuration.keep_alive_ms);
  try {
    return await askEach(work, context);
  } catch (error) {
    if (client.hasEvents && !client.disconnected) {
      client.reported = logPublicError(request_id, error, services.log).public_error;
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Calls the upstreams of the work one after another, best first, until one answers. This is the
 * only place that retries: each upstream may speak another format, so the call is encoded anew.
 * Throws `GatewayError` if none answers, `ClientDisconnected` if the client has disconnected and
 * owes nothing.
 */
async function askEach(work: Work, context: SendContext): Promise<Answer> {
  const { request_id, client, notes, services } = context;
  const { log, health } = services;
  let failed: UpstreamError | undefined;
  let reported: UpstreamAttempt | undefined;
  for (const upstream of work.upstreams) {
    client.on_disconnect = client.may_retry ? 'drain' : upstream.provider.on_abort;
    const { name } = upstream.provider;
    notes.attemptStarted(upstream);
    try {
      const answer = await work.send(upstream, context);
      notes.attemptEnded();
      // A stream has only begun: its `finish` reports to `health` how it ends.
      if (!('streams' in answer && answer.streams)) health.answered(name);
      return answer;
    } catch (error) {
      const isBusy = error instanceof UpstreamError && error.fault === 'busy';
      if (isBusy) notes.attemptUnsent();
      else notes.attemptFailed(error);
      if (client.disconnected) return unanswered(work, upstream, context, error);
      if (!(error instanceof UpstreamError)) throw error;
      // `unsupported` is reported only if every upstream failed by it: the client could do nothing
      // about the others, which may serve the same request later. So is `busy`, which blames none.
      if (!failed || failed.fault === 'busy' || !(isBusy || error.fault === 'unsupported')) {
        failed = error;
        reported = isBusy ? undefined : notes.attempts.at(-1);
      }
      health.failed(name, error);
      const event = isBusy ? 'limits.connections left an upstream out' : 'an upstream failed';
      log.warn({ request_id, provider: name, ...upstreamFault(error) }, event);
      if (!isRetryable(error)) break;
    }
  }
  if (!failed) throw new Error('The model has no upstream.');
  if (reported) notes.reportedToClient(failed, reported);
  throw toClientError(failed);
}

/**
 * What a client that has disconnected before its answer pays: something only if the time to drain
 * is over, the upstream bills on, and the request was sent to it. A client that may repeat the call
 * pays for its answer. Throws `ClientDisconnected` if it pays nothing.
 */
function unanswered(
  work: Work,
  upstream: Upstream,
  context: SendContext,
  error: unknown,
): PaidAnswer {
  const { client } = context;
  const { name, on_abort } = upstream.provider;
  const isSent = !(error instanceof ClientDisconnected && error.before_sent);
  const isDrained = on_abort === 'drain' && client.signal.aborted && !client.may_retry;
  if (!isSent || !isDrained || !work.unansweredBill) throw new ClientDisconnected();
  const billOf = work.unansweredBill.bind(work);
  return wholeAnswer({
    provider: name,
    bill: () => billOf(upstream, context),
    write: () => undefined,
  });
}

/** Like `askEach`. If it fails, undoes what the work began before an upstream answered. */
async function askOrAbandon(work: Work, context: SendContext): Promise<Answer> {
  try {
    return await askEach(work, context);
  } catch (error) {
    await work.abandon?.(error, context);
    throw error;
  }
}
