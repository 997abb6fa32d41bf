import type { TaskQuery } from '../../schema-types/task-query.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { configurationShape } from '../views/configuration.js';
import { pageOf, readMomentCursor } from '../views/cursor.js';
import { providersHealth } from '../views/providers.js';
import { taskShape } from '../views/shapes.js';
import { queryReader } from './input.js';
import { operatorRoute, type ApiRoute } from './route.js';

const DEFAULT_LIMIT = 50;

const readTaskQuery = queryReader<TaskQuery>('task-query');

/** The routes about the running gateway, for operators. */
export function operationRoutes(services: DashboardServices): ApiRoute[] {
  const configuration = configurationShape(services.configuration);
  return [
    operatorRoute({
      method: 'GET',
      path: '/api/tasks',
      scope: 'gateway:read',
      about: {
        id: 'listTasks',
        summary: 'List the video tasks of all accounts, newest first, page by page',
        query: 'task-query',
        status: 200,
        answer: 'TaskPage',
      },
      answer: (ctx) => listTasks(ctx, services),
    }),
    operatorRoute({
      method: 'GET',
      path: '/api/providers',
      scope: 'gateway:read',
      about: {
        id: 'listProviders',
        summary: 'Get the recent outcomes of the calls to each provider, over all processes',
        status: 200,
        answer: 'ProviderList',
      },
      async answer(ctx) {
        ctx.body = await providersHealth(services);
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/api/configuration',
      scope: 'gateway:read',
      about: {
        id: 'getConfiguration',
        summary: 'Get the configuration in force, without its secrets',
        status: 200,
        answer: 'Configuration',
      },
      answer(ctx) {
        ctx.body = configuration;
      },
    }),
  ];
}

async function listTasks(ctx: DashboardContext, { store }: DashboardServices): Promise<void> {
  const { cursor, limit = DEFAULT_LIMIT, status } = readTaskQuery(ctx);
  const tasks = await store.tasks.list({
    limit: limit + 1,
    ...(status && { status }),
    ...(cursor !== undefined && { before: readMomentCursor(cursor) }),
  });
  const { rows, next_cursor } = pageOf(tasks, limit, ({ created_ms, id }) => [created_ms, id]);
  ctx.body = { data: rows.map(taskShape), next_cursor };
}
