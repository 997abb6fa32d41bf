import type { Middleware, ParameterizedContext } from 'koa';
import type { Logger } from 'pino';
import type { Hold } from '../billing/hold.js';
import type { Settler } from '../billing/settler.js';
import type { ChatAnswer, ChatStream } from '../modalities/chat/send.js';
import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { ImageWork } from '../modalities/image/request.js';
import type { ImageAnswer } from '../modalities/image/send.js';
import type { Outcomes } from '../telemetry/provider-health.js';
import type { Memory, Room } from '../http/memory-budget.js';
import type { ChatCompletionBody } from '../schema-types/chat-completion.js';
import type { ImageGenerationBody } from '../schema-types/image-generation.js';
import type { VideoSubmissionBody } from '../schema-types/video-submission.js';
import type { Task } from '../store/tasks/task-types.js';
import type { Store } from '../store/store-types.js';
import type { Throttles } from '../lib/rate-limiter.js';
import type { Call, UnderWay } from '../lib/in-flight.js';
import type { Control } from '../upstream/poll-client.js';
import type { Network } from '../upstream/network-types.js';
import type { VideoWork } from '../modalities/video/request.js';
import type { Polls } from '../modalities/video/poll.js';
import type { Caller, Model, Upstream } from '../core/model.js';
import type { ChatWork } from '../modalities/chat/call.js';
import type { Bill } from '../billing/bill.js';

/** A checked request body, named by the schema whose promise it keeps. */
export type Request =
  | { schema: 'chat-completion'; body: ChatCompletionBody }
  | { schema: 'image-generation'; body: ImageGenerationBody }
  | { schema: 'video-submission'; body: VideoSubmissionBody };

/** What the client gets: a document that costs nothing, or an upstream's answer. */
export type Reply =
  | { kind: 'document'; body: object; status?: number }
  // What an earlier call under the same `Idempotency-Key` was answered, in its own JSON.
  | { kind: 'repeat'; text: string; status: number }
  | ChatAnswer
  | ChatStream
  | ImageAnswer
  | TaskReply
  // The body has gone out already, or is there in its own bytes.
  | { kind: 'content' };

/** The state of a video task; its body is made once it is known whether it was settled. */
export interface TaskReply {
  kind: 'task';
  task: Task;
  body(task: Task): object;
}

/** The request in the gateway's own words, by the capability that it was routed to. */
export type Work = ChatWork | ImageWork | VideoWork;

/** The task that a path names; of a content's path also which of its videos. */
export type RoutedTask =
  { kind: 'task'; task: Task } | { kind: 'content'; task: Task; index: number };

/** What was charged for a task, at this request or at an earlier one. */
export interface TaskBill {
  kind: 'task';
  task: Task;
  cost_nano: bigint;
  /** Its price is known beforehand and held, so there is never a rest. */
  uncollected_nano?: undefined;
}

/** The facts of a request. Each is given by exactly one stage of its endpoint. */
export interface Facts {
  caller: Caller;
  request: Request;
  model: Model;
  /** Best first. */
  upstreams: readonly Upstream[];
  /** The request in the gateway's own words, fitted to the model. */
  work: Work;
  task: RoutedTask;
  hold: Hold;
  reply: Reply;
  receipt: Bill | TaskBill;
}

export type Fact = keyof Facts;

/** A fact that a stage needs, where it matters also of which kind: `work:chat`. */
export type Need = Fact | `${Fact}:${string}`;

export interface State extends Partial<Omit<Facts, 'request'>> {
  /** Let go of once the work is on its way: it may be large, and the work says it all. */
  request?: Request | undefined;
  request_id: string;
  endpoint?: string;
  /** Whose session it is, at the dashboard. */
  account_id?: string;
  /** What it has in memory; see `roomOf`. */
  room?: Room;
}

export type Context = ParameterizedContext<State>;
export type StageMiddleware = Middleware<State>;

/** What stages may use. One value for each configuration; the store and network outlive reloads. */
export interface Services {
  configuration: Configuration;
  store: Store;
  settler: Settler;
  network: Network;
  control: Control;
  log: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
  /** From 0 to 1, for sharing load. */
  random: () => number;
  /** How the calls to each provider end. */
  outcomes: Outcomes;
  throttles: Throttles;
  /** What the bodies and answers of all requests weigh. */
  memory: Memory;
  /** Requests under way, each with the means to end it. */
  inflight: UnderWay<Call>;
  /** Questions about tasks that are on their way to an upstream. */
  polls: Polls;
}

/**
 * What a stage does with money: an endpoint that spends must hold before and settle after; one that
 * hands its hold over to a task must hold before, and one that completes a task settle it after.
 */
export type Money = 'holds' | 'spends' | 'settles' | 'hands-over' | 'completes' | 'settles-task';

/** What a stage promises for the option it is given. */
export interface Shape {
  needs: readonly Need[];
  gives: readonly Need[];
  money?: Money;
}

/**
 * One step of an endpoint. A stage without options writes its promise as a constant; one that reads
 * its option answers it from `shape`, and throws `OptionError` for an option it cannot take.
 */
export interface Stage {
  name: string;
  shape: Shape | ((option: unknown, endpoint: EndpointEntry) => Shape);
  create(option: unknown, services: Services, endpoint: EndpointEntry): StageMiddleware;
}

/** Reads a fact that the order of the stages, checked at boot, has made sure of. */
export function fact<F extends Fact>(ctx: Context, name: F): Facts[F] {
  const value = ctx.state[name];
  if (value === undefined) throw new Error(`The fact ${name} is missing.`);
  return value as Facts[F];
}

/** What the request has in memory, counted for its account. It is closed with the answer. */
export function roomOf({ state }: Context, { memory, configuration }: Services): Room {
  state.room ??= memory.room(state.caller?.account_id, configuration.limits.in_flight_bytes);
  return state.room;
}

/** The work of a request that was routed to that capability. */
export function workOf<K extends Work['kind']>(ctx: Context, kind: K): Extract<Work, { kind: K }> {
  const work = fact(ctx, 'work');
  if (!isOfKind(work, kind)) throw new Error(`The work is ${work.kind}, not ${kind}.`);
  return work;
}

function isOfKind<K extends Work['kind']>(work: Work, kind: K): work is Extract<Work, { kind: K }> {
  return work.kind === kind;
}
