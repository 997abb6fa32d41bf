import { ClientConnection, ClientDisconnected } from '../http/client-connection.js';
import { OptionError } from '../core/errors.js';
import type { Modalities, Operation } from '../pipeline/modality.js';
import { formatOption, roomOf, type Stage } from '../pipeline/stage.js';

/** Does the work that its option names, at the upstreams. */
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
      return async (ctx, next) => {
        const { state } = ctx;
        const client = new ClientConnection(ctx.req, ctx.res, limits);
        // The body may be large, and from here on the work says it all.
        state.request = undefined;
        client.room = roomOf(state, services);
        client.account_id = state.caller?.account_id ?? null;
        client.may_retry = state.hold?.repeatable !== undefined;
        services.inflight.add(client);
        try {
          state.answer = await operation.run(state, client, services);
          await next();
        } catch (error) {
          // Nobody reads on from here, so an answer still coming in is cut off.
          client.stop(new ClientDisconnected());
          throw error;
        } finally {
          services.inflight.delete(client);
          client.close();
        }
      };
    },
  };
}

function operationOf(operations: ReadonlyMap<string, Operation>, option: unknown): Operation {
  const found = operations.get(String(option));
  if (found) return found;
  throw new OptionError(`${formatOption(option)} is not an operation`, [...operations.keys()]);
}
