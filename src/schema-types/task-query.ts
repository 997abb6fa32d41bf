// Made by `npm run types` from schemas/task-query.schema.json.

/** GET /api/tasks: which page, and tasks in which state. */
export interface TaskQuery {
  /** next_cursor of the page before */
  cursor?: string;
  /** tasks on a page; 50 where it is left out */
  limit?: number;
  /** only tasks in this state */
  status?: 'SUBMITTING' | 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';
}
