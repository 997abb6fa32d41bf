import { ClientConnection } from '../http/client-connection.js';
import type { Configuration } from '../core/configuration.js';
import { ClientDisconnected, OptionError } from '../core/errors.js';
import { headerSafe, ignoredHeader } from '../http/ignored-header.js';
import type { Modalities, Operation } from '../pipeline/modality.js';
import {
  fact,
  formatOption,
  goOnInTurn,
  requestMemoryOf,
  type Context,
  type Stage,
  type State,
} from '../pipeline/stage.js';
import { logPublicError, publicErrorOf } from '../pipeline/public-error.js';
import { RequestNotes } from '../pipeline/request-record.js';
import type { Services } from '../pipeline/services.js';
import { askUpstreams } from './ask-upstreams.js';
import { type Answer, type SendContext, type Work } from '../pipeline/work.js';

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
        client.headers = state.headers;
        client.memory = requestMemoryOf(state, services);
        client.account_id = state.caller?.account_id ?? null;
        client.may_retry = state.claim !== undefined;
        if (state.notes) state.notes.client = client;
        services.inflight.add(client);
        try {
          const answer = await run(state, client, services);
          const turn = goOnInTurn(state, services);
          if (turn) await turn;
          state.answer = answer;
          nameModel(ctx);
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

/** Notes the model that serves the call, and tells the client if it is not the one asked for. */
function nameModel(ctx: Context): void {
  const { state } = ctx;
  const served = state.work?.served_by;
  if (!served || served.id === state.model?.id) return;
  state.model = served;
  ctx.set('tollgate-model', headerSafe(served.id));
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

/** Sends the work of a request. Throws as `askUpstreams` does. */
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
  return work.abandon ? askOrAbandon(work, context) : askUpstreams(work, context);
}

/**
 * Like `askUpstreams`, for a client that waits for a stream. If no upstream answers soon, the
 * stream begins with keep-alives: proxies cut silent connections. It then also ends with the error.
 */
async function askForStream(work: Work, context: SendContext): Promise<Answer> {
  const { request_id, client, services } = context;
  const timer = setTimeout(() => {
    if (!client.disconnected) work.openStream?.(context);
  }, services.configuration.keep_alive_ms);
  try {
    return await askUpstreams(work, context);
  } catch (error) {
    if (client.hasEvents && !client.disconnected) {
      client.reported = logPublicError(request_id, error, services.log).public_error;
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Like `askUpstreams`. If it fails, undoes what the work began before an upstream answered. */
async function askOrAbandon(work: Work, context: SendContext): Promise<Answer> {
  try {
    return await askUpstreams(work, context);
  } catch (error) {
    await work.abandon?.(error, context);
    throw error;
  }
}
