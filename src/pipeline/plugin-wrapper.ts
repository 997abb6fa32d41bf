import type { Stage, StageMiddleware } from './stage.js';

/**
 * An operator's own stage. A request is over only when all its stages are: where this one does not
 * wait for what its `next` began, the request does, and what goes wrong there is answered, where it
 * would else end the process.
 */
export function ownStage(stage: Stage): Stage {
  const create: Stage['create'] = (...given) => {
    const run: unknown = stage.create(...given);
    if (typeof run === 'function') return waiting(run as StageMiddleware);
    throw new Error(`The stage ${stage.name} makes no function to be run.`);
  };
  return Object.create(stage, { create: { value: create } }) as Stage;
}

function waiting(run: StageMiddleware): StageMiddleware {
  return async (ctx, next) => {
    /** What `next` began and has not ended; a second call of it is refused. */
    const open = new Set<Promise<void>>();
    const begin = (): Promise<void> => {
      const rest = next();
      const close = (): void => void open.delete(rest);
      open.add(rest);
      rest.then(close, close);
      return rest;
    };
    try {
      const ended: unknown = run(ctx, begin);
      // Who gives no promise has waited for nothing, not even for what has failed by now.
      if (!(ended instanceof Promise)) await Promise.all(open);
      await ended;
    } catch (error) {
      await Promise.allSettled(open);
      throw error;
    }
    await Promise.all(open);
  };
}
