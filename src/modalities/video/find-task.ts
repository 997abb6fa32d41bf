import { GatewayError, modelNotAllowed } from '../../core/errors.js';
import { type PathParams, fact, type State } from '../../pipeline/stage.js';
import type { Services } from '../../pipeline/services.js';
import type { RoutedTask } from '../../pipeline/work.js';
import type { Task } from '../../store/tasks/task-types.js';
import { taskId } from './formats/openai-video-object.js';
import { logExpired } from './log-expired.js';

/** What the ID in a path is: the request's own, or that of its content. */
type Kind = 'task' | 'content';

/**
 * The task that the path names. Another account's is the same as one that does not exist. Throws
 * `GatewayError` (400) for an ID, a model or an index that is not right, and for a model that the
 * key may not use: the result of its task is charged.
 */
export async function findTask(
  kind: Kind,
  params: PathParams,
  state: State,
  services: Services,
): Promise<RoutedTask> {
  const { requestID: id = '', model = '', index = '' } = params;
  const { account_id, models } = fact(state, 'caller');
  const task = await ownTask(kind, id, account_id, services);
  checkModel(model, task, models, services);
  if (task?.model !== model) throw unknown(id);
  return { task, index: kind === 'task' ? 0 : readIndex(index, task) };
}

/**
 * The task that the ID of a video names, of whichever model. Throws `GatewayError`: 404 for an ID
 * that is not the account's, 400 where the key may not use the model.
 */
export async function findVideo(
  { videoID: id = '' }: PathParams,
  state: State,
  services: Services,
): Promise<RoutedTask> {
  const { account_id, models } = fact(state, 'caller');
  const named = taskId(id);
  const task = named === undefined ? undefined : await ownTask('task', named, account_id, services);
  if (!task) {
    const message = `There is no video ${JSON.stringify(id.slice(0, 64))}.`;
    throw new GatewayError('invalid_request_id', message, { status: 404, param: 'videoID' });
  }
  if (models && !models.includes(task.model)) throw modelNotAllowed(task.model);
  return { task, index: 0 };
}

async function ownTask(
  kind: Kind,
  id: string,
  account_id: string,
  services: Services,
): Promise<Task | undefined> {
  const { tasks } = services.store;
  const find = () => (kind === 'task' ? tasks.task(id) : tasks.taskByContent(id));
  const task = await find();
  if (task?.account_id !== account_id) return undefined;
  if (task.due_ms > services.now()) return task;
  await endExpired(services);
  return find();
}

/** Fails the tasks that were not finished in time, and removes those that were kept long enough. */
export async function endExpired({ store, log, configuration }: Services): Promise<void> {
  const swept = await store.tasks.sweep(configuration.limits.task_ms);
  for (const one of swept) logExpired(one, log);
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
