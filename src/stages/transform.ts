import { Client, ClientGone } from '../http/client-connection.js';
import { OPERATIONS, type GatewayOperation } from '../modalities/operations.js';
import { inWords } from '../pipeline/option.js';
import { roomOf, type Stage } from '../pipeline/stage.js';
import { OptionError } from '../core/option-error.js';

/** Does the work that its option names, at the upstreams. */
export const transform: Stage = {
  name: 'transform',
  shape: (option) => operation(option).shape,
  create: (option, services) => {
    const { run } = operation(option);
    const { limits } = services.configuration;
    return async (ctx, next) => {
      const client = new Client(ctx.res, limits);
      ctx.state.request = undefined;
      client.room = roomOf(ctx, services);
      client.account_id = ctx.state.caller?.account_id ?? null;
      client.returns = ctx.state.hold?.repeatable !== undefined;
      services.inflight.add(client);
      try {
        ctx.state.reply = await run(ctx, client, services);
        await next();
      } catch (error) {
        // Nobody reads on from here, so an answer still coming in is cut off.
        client.stop(new ClientGone());
        throw error;
      } finally {
        services.inflight.delete(client);
        client.close();
      }
    };
  },
};

function operation(option: unknown): GatewayOperation {
  const names = Object.keys(OPERATIONS);
  const found = names.includes(String(option)) ? OPERATIONS[String(option)] : undefined;
  if (!found) throw new OptionError(`${inWords(option)} is not an operation`, names);
  return found;
}
