import type { EndpointEntry } from '../core/configuration.js';
import type { Context, Stage, StageMiddleware } from './stage.js';
import type { Services } from './services.js';

/** The stages of an endpoint in a row; no stage follows them. */
export type Handle = (ctx: Context) => Promise<void>;

/** An endpoint's stages in order, composed once for each configuration. */
export function compose(
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  services: Services,
): Handle {
  const row = endpoint.stages.map(({ name, option }) => {
    const stage = stages.get(name);
    if (!stage) throw new Error(`No stage is called ${name}.`);
    return stage.create(option, services, endpoint);
  });
  return (ctx) => {
    ctx.state.endpoint = endpoint.name;
    return runFrom(row, 0, ctx);
  };
}

const DONE = Promise.resolve();

/**
 * Runs the stages from one on. Whoever calls `next` always gets a promise of it. A stage that calls
 * it twice is at fault, and is told so.
 */
function runFrom(row: readonly StageMiddleware[], at: number, ctx: Context): Promise<void> {
  const stage = row[at];
  if (!stage) return DONE;
  let gone = false;
  const next = (): Promise<void> => {
    if (gone) return Promise.reject(new Error('A stage called next() twice.'));
    gone = true;
    return runFrom(row, at + 1, ctx);
  };
  try {
    return Promise.resolve(stage(ctx, next));
  } catch (error) {
    return Promise.reject(error);
  }
}
