import { GatewayError, modelNotAllowed } from '../../core/errors.js';
import { fact, type Context, type RoutedTask, type Services } from '../../pipeline/stage.js';
import type { Task } from '../../store/tasks/task-types.js';
import { tellSwept } from './log-expired.js';
import { modelIn, paramIn } from '../../http/params.js';

/**
 * The task that the path names. Another account's is the same as one that does not exist. Throws
 * `GatewayError` (400) for an ID, a model or an index that is not right, and for a model that the
 * key may not use: the result of its task is charged.
 */
export async function findTask(
  ctx: Context,
  services: Services,
  kind: RoutedTask['kind'],
): Promise<RoutedTask> {
  const id = paramIn(ctx, 'requestID');
  const task = await ownTask(ctx, services, kind, id);
  checkModel(modelIn(ctx), task, fact(ctx, 'caller').models, services);
  if (task?.model !== modelIn(ctx)) throw unknown(id);
  if (kind === 'task') return { kind, task };
  return { kind, task, index: readIndex(paramIn(ctx, 'index'), task) };
}

async function ownTask(
  ctx: Context,
  services: Services,
  kind: RoutedTask['kind'],
  id: string,
): Promise<Task | undefined> {
  const { tasks } = services.store;
  const find = () => (kind === 'task' ? tasks.task(id) : tasks.taskByContent(id));
  const task = await find();
  if (task?.account_id !== fact(ctx, 'caller').account_id) return undefined;
  if (task.due_ms > services.now()) return task;
  const { log, configuration } = services;
  for (const swept of await tasks.sweep(configuration.limits.task_ms)) tellSwept(swept, log);
  return find();
}

/** A task stays with its model, also where a reload has taken that one away. */
function checkModel(
  id: string,
  task: Task | undefined,
  allowed: readonly string[] | undefined,
  { configuration }: Services,
): void {
  const model = configuration.models.get(id);
  const isKnown = model !== undefined || task?.model === id;
  if (isKnown && allowed && !allowed.includes(id)) throw modelNotAllowed(id);
  if (task?.model === id) return;
  if (!model) {
    const message = `There is no model "${id}" here: GET /v1/models lists those there are.`;
    throw new GatewayError('model_not_found', message, { param: 'model' });
  }
  if (!task || model.upstreams.some(({ provider }) => provider.name === task.provider)) return;
  const message = `This request is not one of the provider of the model "${id}".`;
  throw new GatewayError('provider_mismatch', message, { param: 'model' });
}

function readIndex(text: string, { videos }: Task): number {
  const index = /^(0|[1-9]\d{0,8})$/u.test(text) ? Number(text) : videos;
  if (index < videos) return index;
  throw new GatewayError('invalid_content_index', 'There is no video with this index.', {
    param: 'index',
  });
}

function unknown(id: string): GatewayError {
  const shown = JSON.stringify(id.slice(0, 64));
  return new GatewayError('invalid_request_id', `There is no request ${shown} of this model.`, {
    param: 'requestID',
  });
}
