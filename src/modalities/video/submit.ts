import { firstAnswer } from '../../pipeline/fallback.js';
import { videoRate } from './price.js';
import type { Client } from '../../http/client-connection.js';
import { GatewayError } from '../../core/errors.js';
import { fact, workOf, type Context, type Reply, type Services } from '../../pipeline/stage.js';
import type { TaskCall, TaskIntent, TaskJob, TaskTarget } from '../../store/tasks/task-types.js';
import { addressOf } from './links.js';
import type { VideoCall } from './codec.js';
import { submitJobs, UNSURE } from './submit-jobs.js';
import type { Upstream } from '../../core/model.js';

/** What the sweep adds to the upstreams' own timeouts before it takes a submission for lost. */
const GRACE_MS = 60_000;

/**
 * Takes a task in: its intent and its hold are written down, then an upstream is asked, then what
 * that one answered is written down, and only then the client learns the task's ID (202).
 */
export async function submit(ctx: Context, client: Client, services: Services): Promise<Reply> {
  const { store, network, configuration } = services;
  const { tasks } = store;
  const { call } = workOf(ctx, 'video');
  const id = ctx.state.request_id;
  const body = submitted(ctx, services);
  let begun = false;
  try {
    await firstAnswer(ctx, client, services, async (upstream) => {
      // An upstream is heard out: it may take the task though the client has left.
      client.on_leave = 'drain';
      const target = targetOf(upstream, call);
      if (begun) await tasks.retarget(id, target);
      else await begin(ctx, services, target, call);
      begun = true;
      const jobs = await submitJobs(call, upstream, network, configuration.limits, client.signal);
      await accept(ctx, jobs, target, body, services);
    });
  } catch (error) {
    if (begun) await giveUp(ctx, error, services);
    throw error;
  }
  return { kind: 'document', status: 202, body };
}

function targetOf({ provider, model, price }: Upstream, call: VideoCall): TaskTarget {
  const price_nano = videoRate(price, call);
  if (price_nano === undefined) throw new Error('The upstream has no price for this video.');
  return { provider: provider.name, upstream_model: model, price_nano };
}

async function begin(
  ctx: Context,
  { store, now }: Services,
  target: TaskTarget,
  call: VideoCall,
): Promise<void> {
  const hold = fact(ctx, 'hold');
  const { account_id, key_id } = fact(ctx, 'caller');
  const patience_ms = fact(ctx, 'upstreams')
    .map(({ provider }) => provider.timeouts.total_ms)
    .reduce((sum, ms) => sum + ms, GRACE_MS);
  const intent: TaskIntent = {
    ...target,
    account_id,
    key_id,
    id: ctx.state.request_id,
    model: fact(ctx, 'model').id,
    call: rememberedOf(call),
    hold_nano: hold.amount_nano ?? 0n,
    due_ms: now() + patience_ms,
  };
  await hold.handOver(() => store.tasks.begin(intent));
}

function rememberedOf(call: VideoCall): TaskCall {
  const { aspect_ratio, resolution, duration_seconds, generate_audio, sample_count } = call;
  return { aspect_ratio, resolution, duration_seconds, generate_audio, sample_count };
}

/** From here on the task is there for its client, whose repetitions are answered the same. */
async function accept(
  ctx: Context,
  jobs: readonly TaskJob[],
  { provider }: TaskTarget,
  body: object,
  { store, now, log, configuration }: Services,
): Promise<void> {
  const { request_id } = ctx.state;
  const { repeatable } = fact(ctx, 'hold');
  try {
    const due_ms = now() + configuration.limits.task_ms;
    const answered = repeatable?.answered({ status: 202, text: JSON.stringify(body) });
    if (await store.tasks.accept(request_id, jobs, due_ms, answered)) {
      repeatable?.end();
      return;
    }
    throw new Error(`The task ${request_id} was given up while its upstream took it.`);
  } catch (error) {
    // All that is left of the upstream's tasks, for whoever wants to find them there.
    log.error({ request_id, provider, jobs, err: error }, 'an accepted task could not be kept');
    throw error;
  }
}

async function giveUp(ctx: Context, error: unknown, services: Services): Promise<void> {
  const { store, now, log, configuration } = services;
  const id = ctx.state.request_id;
  const { repeatable } = fact(ctx, 'hold');
  const isTold = error instanceof GatewayError && error.code !== 'draining';
  const why = isTold ? error.message : UNSURE;
  try {
    const due_ms = now() + configuration.limits.task_ms;
    await store.tasks.fail(id, why, due_ms, repeatable?.call);
  } catch (err) {
    // The sweep will do it, and then release the hold.
    log.error({ request_id: id, err }, 'a failed task could not be ended');
  }
}

function submitted(ctx: Context, services: Services): object {
  const { request_id } = ctx.state;
  const names = { requestID: request_id };
  return {
    request_id,
    status: 'IN_QUEUE',
    status_url: addressOf(ctx, services, 'video.status', names),
    response_url: addressOf(ctx, services, 'video.result', names),
  };
}
