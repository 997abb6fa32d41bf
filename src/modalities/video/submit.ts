import { LONGEST_RETRY_WAIT_MS } from '../../upstream/to-client-error.js';
import type { Model, Upstream } from '../../core/model.js';
import { GatewayError, isStop } from '../../core/errors.js';
import type { Answer, SendContext, Work } from '../../pipeline/work.js';
import type {
  Task,
  TaskCall,
  TaskIntent,
  TaskJob,
  TaskTarget,
} from '../../store/tasks/task-types.js';
import type { VideoCall } from './codec.js';
import {
  fitting,
  type Acceptance,
  type VideoFormat,
  type VideoWork,
} from './formats/video-submission.js';
import { taskTarget, videoMaxCost } from './price.js';
import { submitJobs, UNCERTAIN_SUBMIT } from './submit-jobs.js';

/** The time beyond the timeouts of the upstreams after which the sweep fails a submission. */
const GRACE_MS = 60_000;

/**
 * A video task that is being submitted. First the intent and its hold are stored, then the upstream
 * gets the request, then its jobs are stored, and only then the client gets the ID of the task.
 */
export class PlannedVideo implements Work {
  upstreams: readonly Upstream[];
  readonly repeatable = true;
  readonly bills_errors = true;
  readonly ignored: readonly string[];
  private readonly call: VideoCall;
  /** Set once the task is in the store. */
  #acceptance: Acceptance | undefined;

  constructor(
    private readonly format: VideoFormat,
    { call, ignored }: VideoWork,
    private readonly model: Model,
  ) {
    this.call = call;
    this.ignored = ignored;
    this.upstreams = fitting(call, model.upstreams);
  }

  maxCost(): bigint {
    return videoMaxCost(this.call, this.upstreams);
  }

  async send(upstream: Upstream, context: SendContext): Promise<Answer> {
    const { call, format } = this;
    const { request_id, client, services } = context;
    const { store, network, configuration } = services;
    // Read the whole answer: the upstream may accept the task after the client disconnected.
    client.on_disconnect = 'drain';
    const target = taskTarget(upstream, call, services.now());
    if (this.#acceptance) await store.tasks.retarget(request_id, target);
    else this.#acceptance = format.accepted(await this.#begin(target, context), context);
    const { status, body } = this.#acceptance;
    const jobs = await submitJobs(call, upstream, network, configuration.limits, client.signal);
    await accept(jobs, target, this.#acceptance, context);
    return { status, body: () => body };
  }

  async abandon(error: unknown, context: SendContext): Promise<void> {
    if (this.#acceptance) await giveUp(error, context);
  }

  async #begin(target: TaskTarget, context: SendContext): Promise<Task> {
    const { request_id, caller, hold, services } = context;
    const timeout_ms = this.upstreams
      .map(({ provider: { timeouts, retries = 0 } }) => {
        return (timeouts.total_ms + LONGEST_RETRY_WAIT_MS) * (1 + retries);
      })
      .reduce((sum, ms) => sum + ms, GRACE_MS);
    const intent: TaskIntent = {
      ...target,
      account_id: caller.account_id,
      key_id: caller.key_id,
      id: request_id,
      model: this.model.id,
      call: storedCall(this.call),
      hold_nano: hold.amount_nano ?? 0n,
      due_ms: services.now() + timeout_ms,
    };
    return hold.handOver(() => services.store.tasks.begin(intent));
  }
}

function storedCall(call: VideoCall): TaskCall {
  const { aspect_ratio, resolution, duration_seconds, generate_audio, sample_count } = call;
  return { aspect_ratio, resolution, duration_seconds, generate_audio, sample_count };
}

/** Stores the jobs. From then on the client can find its task, and repeat its call. */
async function accept(
  jobs: readonly TaskJob[],
  { provider }: TaskTarget,
  { status, body }: Acceptance,
  { request_id, claim, services }: SendContext,
): Promise<void> {
  const { store, now, log, configuration } = services;
  try {
    const due_ms = now() + configuration.limits.task_ms;
    const answered = claim?.ended({ status, text: JSON.stringify(body) });
    if (await store.tasks.accept(request_id, jobs, due_ms, answered)) {
      claim?.end();
      return;
    }
    throw new Error(`The task ${request_id} was given up while its upstream took it.`);
  } catch (error) {
    // Only this log line can lead operators to the jobs at the upstream.
    log.error({ request_id, provider, jobs, err: error }, 'an accepted task could not be kept');
    throw error;
  }
}

async function giveUp(error: unknown, { request_id, claim, services }: SendContext): Promise<void> {
  const { store, now, log, configuration } = services;
  const isForClient = error instanceof GatewayError && !isStop(error);
  const why = isForClient ? error.message : UNCERTAIN_SUBMIT;
  try {
    const due_ms = now() + configuration.limits.task_ms;
    await store.tasks.fail(request_id, why, due_ms, claim?.call);
  } catch (err) {
    // The sweep will fail the task, and release its hold.
    log.error({ request_id, err }, 'a failed task could not be ended');
  }
}
