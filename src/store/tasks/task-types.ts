import type { Actor } from '../../core/actor.js';
import type { EndedCall, IdempotentCall } from '../idempotency/idempotency-types.js';
import type { JsonObject } from '../../core/json.js';
import type { AspectRatio, Resolution, ContentSource } from '../../core/task.js';

/** `SUBMITTING` is ours: the intent is written, and the upstream has not answered yet. */
export type TaskStatus = 'SUBMITTING' | JobStatus;
export type JobStatus = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';

/** The parameters of the request, without prompt and image: no later step needs those. */
export interface TaskCall {
  aspect_ratio: AspectRatio;
  resolution: Resolution;
  duration_seconds: number;
  generate_audio: boolean;
  sample_count: number;
}

/** One task at the upstream; ours has several where the upstream makes fewer videos at once. */
export interface TaskJob {
  /** How many videos it was asked for. */
  count: number;
  status: JobStatus;
  /** What the codec remembers. */
  state: JsonObject;
  error?: string;
  /** When it was first known to have ended. */
  ended_ms?: number;
}

/** The upstream of a task and its price a second, fixed for the life of the task. */
export interface TaskTarget {
  provider: string;
  upstream_model: string;
  /** Nano-dollars a second of video. */
  price_nano: bigint;
}

export interface Task extends TaskTarget {
  id: string;
  account_id: string;
  /** The key that submitted it, and so is charged. */
  key_id: string;
  model: string;
  call: TaskCall;
  jobs: readonly TaskJob[];
  status: TaskStatus;
  error: string | null;
  /** Minted when the result is first fetched. */
  content_id: string | null;
  /** How many videos there are to fetch. */
  videos: number;
  /** What is held now; 0 once it has ended. */
  hold_nano: bigint;
  /** Null until the result was fetched. */
  charge_nano: bigint | null;
  /** Counts the changes, so that an older view never overwrites a newer one. */
  version: number;
  polled_ms: number;
  /** When it fails, or is removed if it has ended. */
  due_ms: number;
  created_ms: number;
  updated_ms: number;
}

export interface TaskIntent extends TaskTarget {
  id: string;
  account_id: string;
  key_id: string;
  model: string;
  call: TaskCall;
  /** What is held under the task's ID; 0 where there is no hold, as the model is free. */
  hold_nano: bigint;
  due_ms: number;
}

/** The result of a poll. */
export interface TaskProgress {
  status: JobStatus;
  error: string | null;
  jobs: readonly TaskJob[];
  /** Videos that were finished since, in the order of their positions. */
  places: readonly { position: number; place: ContentSource }[];
  due_ms: number;
}

export interface TaskSettlement {
  content_id: string;
  cost_nano: bigint;
  /** JSON object for the ledger. */
  usage: string;
}

/** A task that the sweep failed or removed. */
export interface SweptTask {
  task: Task;
  did: 'failed' | 'removed';
}

export interface TaskFilter {
  account_id?: string;
  status?: TaskStatus;
  /** Only tasks after this one in the list. */
  before?: Pick<Task, 'created_ms' | 'id'>;
  limit: number;
}

/** A page of an account's tasks in the order of their IDs, which is that of time. */
export interface TaskPage {
  account_id: string;
  /** Only tasks of these models; of all where it is left out. */
  models?: readonly string[];
  order: 'asc' | 'desc';
  /** Only tasks beyond this ID in that order, whether or not its task still exists. */
  after?: string;
  limit: number;
}

/** The tasks of a store. Each write is one transaction, committed when it resolves. */
export interface TaskStore {
  /**
   * Writes down what is about to be asked of an upstream; the hold of that request moves to the
   * task. Throws `StoreError` where there is no such hold any more.
   */
  begin(intent: TaskIntent): Promise<void>;
  /** Another upstream is about to be asked. */
  retarget(id: string, target: TaskTarget): Promise<void>;
  /**
   * The upstream has taken it, which is what its client is answered. False if the task was given up
   * meanwhile. Throws `StoreError` where another call has the key of this one.
   */
  accept(
    id: string,
    jobs: readonly TaskJob[],
    due_ms: number,
    answered?: EndedCall,
  ): Promise<boolean>;
  /**
   * Ends a task that is not finished, and its hold; whatever its client could have been answered is
   * forgotten. False if it has ended already.
   */
  fail(id: string, error: string, due_ms: number, call?: IdempotentCall): Promise<boolean>;
  /** Ends such a task because its client wants it; the audit log tells by which key. */
  cancel(id: string, error: string, due_ms: number, by: Actor): Promise<boolean>;
  task(id: string): Promise<Task | undefined>;
  taskByContent(content_id: string): Promise<Task | undefined>;
  /** Takes the turn to ask the upstream; false if someone did so within `interval_ms`. */
  claim(id: string, interval_ms: number): Promise<boolean>;
  /** Writes the result of a poll; false if the task changed since it was read. */
  advance(task: Task, progress: TaskProgress): Promise<boolean>;
  /**
   * Mints the content ID, charges and ends the hold of a COMPLETED task, once: every further call
   * answers the first one's outcome.
   */
  settle(id: string, settlement: TaskSettlement): Promise<Task>;
  /** The content source of one video of a task, counted from 0. */
  place(id: string, index: number): Promise<ContentSource | undefined>;
  /** Newest first, of those made at once the one of the greatest ID. */
  list(filter: TaskFilter): Promise<Task[]>;
  page(page: TaskPage): Promise<Task[]>;
  /** Removes a task that has ended and holds no money; false for any other. */
  remove(id: string): Promise<boolean>;
  /**
   * Fails what is not done in time or was left behind by a process that is gone, and removes what
   * has been kept long enough. `keep_ms` is how long a failed task stays.
   */
  sweep(keep_ms: number): Promise<SweptTask[]>;
}
