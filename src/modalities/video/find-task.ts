import { GatewayError, modelNotAllowed, modelNotFound } from '../../core/errors.js';
import { modelNamed } from '../../core/configuration.js';
import { mayUseModel } from '../../core/model.js';
import { type PathParams, fact, type State } from '../../pipeline/stage.js';
import type { Services } from '../../pipeline/services.js';
import type { RoutedTask } from '../../pipeline/work.js';
import type { Task } from '../../store/tasks/task-types.js';
import { taskId } from './formats/openai-video-object.js';
import { logExpired } from './log-expired.js';

/** The kind of the ID in a path: the ID of the request, or of its content. */
type TaskIdKind = 'task' | 'content';

/**
 * Finds the task that the path names. A task of another account counts as missing. Throws
 * `GatewayError` (400) for a wrong ID, model or index, and for a model that the key may not use,
 * because the result of its task is charged.
 */
export async function findTask(
  kind: TaskIdKind,
  params: PathParams,
  state: State,
  services: Services,
): Promise<RoutedTask> {
  const { requestID: id = '', model = '', index = '' } = params;
  const { account_id, models } = fact(state, 'caller');
  const task = await ownTask(kind, id, account_id, services);
  checkModel(model, task, models, services);
  if (!task || !isModelOf(model, task, services)) throw unknown(id);
  return { task, index: kind === 'task' ? 0 : readIndex(index, task) };
}

/**
 * Finds the task that the ID of a video names, of any model. Throws `GatewayError`: 404 for an ID
 * that is not of the account, 400 if the key may not use the model.
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
  if (!mayUseModel(models, { id: task.model })) throw modelNotAllowed(task.model);
  return { task, index: 0 };
}

async function ownTask(
  kind: TaskIdKind,
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

/** Fails overdue tasks, and removes ended tasks whose time is over. */
export async function endExpired({ store, log, configuration }: Services): Promise<void> {
  const swept = await store.tasks.sweep(configuration.limits.task_ms);
  for (const one of swept) logExpired(one, log);
}

/** A task can be found by its model even if a reload has removed the model. */
function checkModel(
  id: string,
  task: Task | undefined,
  allowed: readonly string[] | undefined,
  { configuration }: Services,
): void {
  const model = modelNamed(configuration, id);
  const isKnown = model !== undefined || task?.model === id;
  if (isKnown && !mayUseModel(allowed, model ?? { id })) throw modelNotAllowed(id);
  if (task?.model === id) return;
  if (!model) throw modelNotFound(id);
  if (!task || task.model === model.id) return;
  if (model.upstreams.some(({ provider }) => provider.name === task.provider)) return;
  const message = `The request belongs to another provider than that of the model "${id}".`;
  throw new GatewayError('provider_mismatch', message, { param: 'model' });
}

/** Whether a path with this name of a model may be of the task: its ID, or an alias. */
function isModelOf(name: string, task: Task, { configuration }: Services): boolean {
  return task.model === name || task.model === modelNamed(configuration, name)?.id;
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
