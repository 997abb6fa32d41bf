import type { Middleware, ParameterizedContext } from 'koa';
import type { Bill } from '../billing/bill.js';
import type { Hold } from '../billing/hold.js';
import type { EndpointEntry } from '../core/configuration.js';
import type { GatewayError } from '../core/errors.js';
import type { Caller, Model } from '../core/model.js';
import type { Room } from '../http/memory-budget.js';
import { RequestNotes } from './request-notes.js';
import type { Services } from './services.js';
import type { Answer, RoutedTask, Work } from './work.js';
import { OptionError } from '../core/errors.js';

/** A checked request body, and the name of the format whose schema it satisfies. */
export interface Request {
  format: string;
  body: object;
  /** Those that the format reads, by their names in lower case. */
  headers?: RequestHeaders;
}

export type RequestHeaders = Readonly<Record<string, string>>;

/** The facts of a request. Each is given by exactly one stage of its endpoint. */
export interface Facts {
  caller: Caller;
  request: Request;
  model: Model;
  /** The request as its model takes it, with the upstreams to ask, best first. */
  work: Work;
  task: RoutedTask;
  hold: Hold;
  answer: Answer;
  receipt: Bill;
}

export type Fact = keyof Facts;

/** A fact that a stage needs, where it matters also of which kind: `work:chat`, `request:a|b`. */
export type Need = Fact | `${Fact}:${string}`;

export interface State extends Partial<Omit<Facts, 'request'>> {
  /** Let go of once the work is on its way: it may be large, and the work says it all. */
  request?: Request | undefined;
  request_id: string;
  endpoint?: string;
  /** For the record of a request for work; other requests have none. */
  notes?: RequestNotes;
  /** Whose session it is, at the dashboard. */
  account_id?: string;
  /** The memory it uses; see `roomOf`. */
  room?: Room;
  /** How the endpoint's format says an error; the one shape where it is absent. */
  error_body?: (error: GatewayError, request_id: string) => object;
  /** How it tells one by a stream; see `RequestFormat`. */
  error_stream?: (error: GatewayError, failed: FailedRequest) => string | undefined;
}

/** A request that gets no answer; `model` is empty where it was not read. */
export interface FailedRequest {
  request_id: string;
  now_ms: number;
  model: string;
}

export type Context = ParameterizedContext<State>;
export type StageMiddleware = Middleware<State>;

/**
 * What a stage does with money: an endpoint that spends must hold before and settle after; one that
 * hands its hold over to a task must hold before, and one that completes a task settle it after.
 */
export type Money = 'holds' | 'spends' | 'settles' | 'hands-over' | 'completes' | 'settles-task';

/** What a stage promises for the option it is given. */
export interface Shape {
  needs: readonly Need[];
  gives: readonly Need[];
  /** Facts that no earlier stage may have given: one that changes the request precedes `work`. */
  precedes?: readonly Fact[];
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
export function fact<F extends Fact>(state: State, name: F): Facts[F] {
  const value = state[name];
  if (value === undefined) throw new Error(`The fact ${name} is missing.`);
  return value as Facts[F];
}

/** The memory that the request uses, counted for its account. It is closed with the answer. */
export function roomOf(state: State, { memory, configuration }: Services): Room {
  state.room ??= memory.room(state.caller?.account_id, configuration.limits.in_flight_bytes);
  return state.room;
}

/** The shape of a stage that takes no option: one in the file is a fault, not ignored. */
export function withoutOption(shape: Shape): (option: unknown) => Shape {
  return (option) => {
    if (option === undefined || option === null) return shape;
    throw new OptionError('it takes no option');
  };
}

/** An option as a message shows it. */
export function formatOption(option: unknown): string {
  return option === undefined ? 'nothing' : JSON.stringify(option);
}

/** The parameters of a request's path, decoded. */
export type PathParams = Readonly<Record<string, string | undefined>>;

/** The parameters that the router found in the path; none for a path without parameters. */
export function paramsOf(ctx: object): PathParams {
  return (ctx as { params?: PathParams }).params ?? {};
}

/** Runs all stages of an endpoint. No middleware follows them. */
export type Handle = (ctx: Context) => Promise<void>;

/** An endpoint with one of these takes requests for work, of which each leaves a record. */
const WORK_STAGES: ReadonlySet<string> = new Set(['validate', 'meter']);

/** An endpoint's stages in order, composed once for each configuration. */
export function compose(
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  services: Services,
): Handle {
  const middlewares = endpoint.stages.map(({ name, option }) => {
    const stage = stages.get(name);
    if (!stage) throw new Error(`No stage is called ${name}.`);
    return stage.create(option, services, endpoint);
  });
  const isWork = endpoint.stages.some(({ name }) => WORK_STAGES.has(name));
  return (ctx) => {
    ctx.state.endpoint = endpoint.name;
    if (isWork) ctx.state.notes = new RequestNotes();
    return runFrom(middlewares, 0, ctx);
  };
}

const DONE = Promise.resolve();

/**
 * Runs the stages from index `at` on. `next` returns a promise even if the following stage throws.
 * A second call of `next` rejects.
 */
function runFrom(middlewares: readonly StageMiddleware[], at: number, ctx: Context): Promise<void> {
  const stage = middlewares[at];
  if (!stage) return DONE;
  let wasCalled = false;
  const next = (): Promise<void> => {
    if (wasCalled) return Promise.reject(new Error('A stage called next() twice.'));
    wasCalled = true;
    return runFrom(middlewares, at + 1, ctx);
  };
  try {
    return Promise.resolve(stage(ctx, next));
  } catch (error) {
    return Promise.reject(error);
  }
}
