import { GatewayError } from '../../core/errors.js';
import { compileFormSchema } from '../../http/read-multipart.js';
import type { Operation } from '../../pipeline/modality.js';
import type { Services } from '../../pipeline/services.js';
import { fact, type State } from '../../pipeline/stage.js';
import type { Answer, RoutedTask } from '../../pipeline/work.js';
import type { Task } from '../../store/tasks/task-types.js';
import type { OpenAiVideoListQuery } from '../../schema-types/openai-video-list-query.js';
import type { Actor } from '../../core/actor.js';
import { dropAll, keyActor } from './cancel.js';
import { download } from './download.js';
import { endExpired } from './find-task.js';
import { taskId, videoId, videoObject } from './formats/openai-video-object.js';
import { poll } from './poll.js';

const LIST_QUERY = 'openai-video-list-query';
const CONTENT_QUERY = 'openai-video-content-query';

/** The operations of OpenAI's Videos API, except submission. */
export const OPENAI_VIDEO_OPERATIONS: readonly Operation[] = [
  {
    name: 'video.retrieve',
    description: {
      summary: "Get the status of a video, in OpenAI's format",
      details: 'Costs nothing.',
      status: 200,
      content: { 'application/json': 'openai-video#/$defs/video' },
      refusals: [404],
    },
    shape: { needs: ['caller', 'task:video'], gives: ['answer:status'] },
    run: (state, _client, services) => retrieve(fact(state, 'task'), services),
  },
  {
    name: 'video.list',
    description: {
      summary: "List the videos of the account, in OpenAI's format",
      details: 'As far as they were known to be: no upstream is asked.',
      status: 200,
      content: { 'application/json': 'openai-video#/$defs/list' },
      query: LIST_QUERY,
      refusals: [400],
    },
    shape: { needs: ['caller'], gives: ['answer:status'] },
    run: (state, { query }, services) => {
      const parameters = Object.fromEntries(query);
      compileFormSchema(LIST_QUERY)(parameters);
      return list(parameters, state, services);
    },
  },
  {
    name: 'video.download',
    description: {
      summary: "Download a video, in OpenAI's format",
      details: 'The first download of a completed video is charged, and no other.',
      status: 200,
      content: { 'video/mp4': 'bytes' },
      query: CONTENT_QUERY,
      refusals: [404, 416],
    },
    shape: { needs: ['caller', 'task:video'], gives: ['answer:task'], money: 'completes' },
    run: (state, client, services) => {
      compileFormSchema(CONTENT_QUERY)(Object.fromEntries(client.query));
      return download(fact(state, 'task'), state.request_id, client, services);
    },
  },
  {
    name: 'video.delete',
    description: {
      summary: "Delete a video, in OpenAI's format",
      details:
        'One that its upstream has not begun is cancelled. One that is being made, or that is ' +
        'completed and not charged yet, stays.',
      status: 200,
      content: { 'application/json': 'openai-video#/$defs/deletion' },
      refusals: [404],
    },
    shape: { needs: ['caller', 'task:video'], gives: ['answer:status'] },
    run: (state, _client, services) => remove(fact(state, 'task'), services, keyActor(state)),
  },
];

/** If the upstream cannot be polled, answers the last known state. */
async function retrieve({ task: routed }: RoutedTask, services: Services): Promise<Answer> {
  const { task } = await poll(routed, services);
  return { body: () => videoObject(task) };
}

const PAGE = 20;

async function list(
  { after, limit = PAGE, order = 'desc' }: OpenAiVideoListQuery,
  state: State,
  services: Services,
): Promise<Answer> {
  const { account_id, models } = fact(state, 'caller');
  const { store, now } = services;
  const beyond = after === undefined ? undefined : taskId(after);
  if (after !== undefined && beyond === undefined) throw noCursor();
  // One task more than the page shows whether there is another page.
  const page = {
    account_id,
    order,
    limit: limit + 1,
    ...(models && { models }),
    ...(beyond !== undefined && { after: beyond }),
  };
  let found = await store.tasks.page(page);
  if (found.some(({ due_ms }) => due_ms <= now())) {
    await endExpired(services);
    found = await store.tasks.page(page);
  }
  const shown = found.slice(0, limit);
  const [first, last] = [shown[0], shown.at(-1)];
  const body = {
    object: 'list',
    data: shown.map(videoObject),
    first_id: first ? videoId(first) : null,
    last_id: last ? videoId(last) : null,
    has_more: found.length > limit,
  };
  return { body: () => body };
}

function noCursor(): GatewayError {
  return new GatewayError('invalid_request', 'after must be the ID of a video.', {
    param: 'after',
  });
}

/** Removes a task that has ended, or that its upstream drops. */
async function remove(
  { task: routed }: RoutedTask,
  services: Services,
  by: Actor,
): Promise<Answer> {
  const { task } = await poll(routed, services);
  await dropAll(task, services, by);
  const { tasks } = services.store;
  const left = (await tasks.remove(task.id)) ? undefined : await tasks.task(task.id);
  if (left) throw stays(left);
  const body = { id: videoId(task), object: 'video.deleted', deleted: true };
  return { body: () => body };
}

function stays({ status }: Task): GatewayError {
  const isCompleted = status === 'COMPLETED';
  const message = isCompleted
    ? 'The video was not downloaded yet: its price is held until it is, or until it expires.'
    : 'The video is being made: it can be deleted once it has ended.';
  return new GatewayError(isCompleted ? 'invalid_request' : 'too_late_to_cancel', message, {
    param: 'videoID',
  });
}
