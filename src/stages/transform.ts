import { ClientConnection } from '../http/client-connection.js';
import type { Configuration } from '../core/configuration.js';
import { ClientDisconnected, OptionError } from '../core/errors.js';
import { headerSafe, ignoredHeader } from '../http/ignored-header.js';
import type { Modalities, Operation } from '../pipeline/modality.js';
import { formatOption, requestMemoryOf, type Context, type Stage } from '../pipeline/stage.js';

/** Runs the operation that its option names, by calls to upstreams. */
export function transform(modalities: Modalities): Stage {
  const operations = new Map(
    [...modalities.values()].flatMap((modality) =>
      modality.operations.map((operation) => [operation.name, operation] as const),
    ),
  );
  return {
    name: 'transform',
    shape: (option) => operationOf(operations, option).shape,
    create: (option, services) => {
      const operation = operationOf(operations, option);
      const { limits } = services.configuration;
      const setUpstreamHeaders = upstreamHeaders(services.configuration);
      return async (ctx, next) => {
        const { state } = ctx;
        const client = new ClientConnection(ctx.req, ctx.res, limits);
        // The body may be large, and the work replaces it.
        state.request = undefined;
        client.memory = requestMemoryOf(state, services);
        client.account_id = state.caller?.account_id ?? null;
        client.may_retry = state.hold?.idempotency !== undefined;
        if (state.notes) state.notes.client = client;
        services.inflight.add(client);
        try {
          const answer = await operation.run(state, client, services);
          state.answer = answer;
          if ('ignored' in answer && answer.ignored?.length) nameIgnored(ctx, answer.ignored);
          setUpstreamHeaders?.(ctx);
          await next();
        } catch (error) {
          // The answer is not read any further, so its upstream call is aborted.
          client.stop(new ClientDisconnected());
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
