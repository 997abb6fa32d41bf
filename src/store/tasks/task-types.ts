import type { Actor } from '../../core/actor.js';
import type { EndedCall, IdempotentCall } from '../idempotency/idempotency-types.js';
import type { JsonObject } from '../../core/json.js';
import type { AspectRatio, Resolution, ContentSource } from '../../core/task.js';

/** `SUBMITTING`: the intent is stored, and the upstream has not answered yet. */
export type TaskStatus = 'SUBMITTING' | JobStatus;
export type JobStatus = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';

/** The parameters of the request, without prompt and image, which no later step needs. */
export interface TaskCall {
  aspect_ratio: AspectRatio;
  resolution: Resolution;
  duration_seconds: number;
  generate_audio: boolean;
  sample_count: number;
}

/** One job at the upstream. A task has several if the upstream makes fewer videos at once. */
export interface TaskJob {
  /** The number of videos that were requested. */
  count: number;
  status: JobStatus;
  /** The state of the codec. */
  state: JsonObject;
  error?: string;
  /** When the gateway first saw that it had ended. */
  ended_ms?: number;
}

/** The upstream of a task and its price. */
export interface TaskTarget {
  provider: string;
  upstream_model: string;
  /** Nano-dollars a second of video. */
  price_nano: bigint;
  /** What the upstream takes for a second. */
  upstream_price_nano: bigint;
  /** Nano-dollars for each job that is completed. */
  fee_nano: bigint;
  /** What the upstream takes for one. */
  upstream_fee_nano: bigint;
}

/** A video task. Amounts are nano-dollars, times Unix ms. */
export interface Task extends TaskTarget {
  id: string;
  account_id: string;
  /** The key that submitted the task, which is charged. */
  key_id: string;
  model: string;
  call: TaskCall;
  jobs: readonly TaskJob[];
  status: TaskStatus;
  error: string | null;
  /** Created when the result is first fetched. */
  content_id: string | null;
  /** How many videos there are to fetch. */
  videos: number;
  /** The open hold; 0 once it has ended. */
  hold_nano: bigint;
  /** The windows of allowances in which the hold counts; null for none. */
  windows: string | null;
  /** Null until the result was fetched. */
  charge_nano: bigint | null;
  /** Counts the changes, so that an older view never overwrites a newer one. */
  version: number;
  polled_ms: number;
  /** When the sweep fails the task, or removes it if it has ended. */
  due_ms: number;
  created_ms: number;
  updated_ms: number;
}

/** A task before its upstream is called, so that a killed gateway leaves a trace of it. */
export interface TaskIntent extends TaskTarget {
  id: string;
  account_id: string;
  key_id: string;
  model: string;
  call: TaskCall;
  /** The hold under the ID of the task; 0 if the model is free. */
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

/** The charge of a task, and the new ID of its content. */
export interface TaskCharge {
  content_id: string;
  cost_nano: bigint;
  /** What the upstream takes. */
  upstream_cost_nano: bigint;
  /** JSON object for the ledger. */
  usage: string;
  /** The client program that fetched the result; null or absent if it is not known. */
  agent?: string | null;
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
  /** Only tasks of these models; all models if left out. */
  models?: readonly string[];
  order: 'asc' | 'desc';
  /** Only tasks beyond this ID in that order, whether or not its task still exists. */
  after?: string;
  limit: number;
}

/** The tasks of a store. Each write is one transaction, committed when it resolves. */
export interface TaskStore {
  /**
   * Stores a task before its request is sent to an upstream, moves the hold of the request to it,
   * and resolves with it. Throws `StoreError` if that hold has ended.
   */
  begin(intent: TaskIntent): Promise<Task>;
  /** Changes the upstream of a task before its request is sent to another one. */
  retarget(id: string, target: TaskTarget): Promise<void>;
  /**
   * Notes that the upstream has accepted the task, and stores the answer to its client. False if
   * the task was failed meanwhile. Throws `StoreError` if another call has its idempotency key.
   */
  accept(
    id: string,
    jobs: readonly TaskJob[],
    due_ms: number,
    answered?: EndedCall,
  ): Promise<boolean>;
  /**
   * Fails a task that has not ended, ends its hold and frees its idempotency key. False if the task
   * has ended already.
   */
  fail(id: string, error: string, due_ms: number, call?: IdempotentCall): Promise<boolean>;
  /** Fails a task because its client cancels it. The audit log names the key of the client. */
  cancel(id: string, error: string, due_ms: number, by: Actor): Promise<boolean>;
  task(id: string): Promise<Task | undefined>;
  taskByContent(content_id: string): Promise<Task | undefined>;
  /**
   * Claims the next poll of the upstream. False if the last claim is younger than `interval_ms`.
   */
  claim(id: string, interval_ms: number): Promise<boolean>;
  /** Stores the result of a poll. False if the task has changed since it was read. */
  advance(task: Task, progress: TaskProgress): Promise<boolean>;
  /**
   * Sets the content ID of a COMPLETED task, charges it and ends its hold. Later calls change
   * nothing and resolve with the outcome of the first. Undefined if the task does not exist.
   */
  charge(id: string, charge: TaskCharge): Promise<Task | undefined>;
  /** The content source of one video of a task, counted from 0. */
  place(id: string, index: number): Promise<ContentSource | undefined>;
  /** Newest first; tasks of the same time by descending ID. */
  list(filter: TaskFilter): Promise<Task[]>;
  page(page: TaskPage): Promise<Task[]>;
  /** Removes a task that has ended and has no hold. False for any other task. */
  remove(id: string): Promise<boolean>;
  /**
   * Fails tasks that are overdue, and submissions of processes that have ended. Removes ended tasks
   * whose time is over. `keep_ms` is how long a failed task stays.
   */
  sweep(keep_ms: number): Promise<SweptTask[]>;
}
