import type { Middleware, ParameterizedContext } from 'koa';
import type { Receipt } from '../billing/bill.js';
import type { Hold } from '../billing/hold.js';
import type { IdempotencyClaim } from '../billing/idempotency-claim.js';
import type { EndpointEntry } from '../core/configuration.js';
import { ClientDisconnected, type GatewayError, OptionError } from '../core/errors.js';
import type { Caller, Model } from '../core/model.js';
import type { TokenUsage } from '../core/usage.js';
import type { RequestMemory } from '../http/memory-budget.js';
import { RequestNotes } from './request-record.js';
import type { SourceTexts } from '../lib/source-texts.js';
import type { Services } from './services.js';
import type { Answer, RoutedTask, Work } from './work.js';

/** A validated request body, and the name of the format whose schema it satisfies. */
export interface Request {
  format: string;
  /** Of a large body, this unseals all texts when it is read: see `sealedBody`. */
  readonly body: object;
  /** The request headers that the format reads, by their names in lower case. */
  headers?: RequestHeaders;
  /** The long texts of a large body as they came. */
  texts?: SourceTexts | undefined;
  /** The body with its sealed texts; absent if it has none. */
  sealed?: object;
}

/** A request whose body may have sealed texts. They are unsealed for whoever reads `body`. */
export function sealedRequest(
  format: string,
  sealed: object,
  headers: RequestHeaders,
  texts: SourceTexts,
): Request {
  return {
    format,
    headers,
    texts,
    sealed,
    get body() {
      return texts.unseal(sealed);
    },
  };
}

/** The body for a reader that moves and measures large texts alone: `SourceTexts` writes them. */
export function sealedBody(request: Request): object {
  return request.sealed ?? request.body;
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
  receipt: Receipt;
}

export type Fact = keyof Facts;

/**
 * A fact that a stage needs or gives, with its kind if that matters: `work:chat`, `request:a|b`.
 */
export type Need = Fact | `${Fact}:${string}`;

export interface State extends Partial<Omit<Facts, 'request'>> {
  /** Deleted before the work is sent: it may be large, and the work replaces it. */
  request?: Request | undefined;
  request_id: string;
  /** The claim of its `Idempotency-Key`, if it has one. */
  claim?: IdempotencyClaim | undefined;
  /** Headers of its answer, of whatever kind: Node writes them faster than those of `setHeader`. */
  headers?: Readonly<Record<string, string>>;
  /** Ends what rates have counted of it; absent if no rate counts it. */
  rate?: CountedRequest;
  /** When the request arrived, in ms since 1970. */
  time_ms: number;
  endpoint?: string;
  /** Only a request for work has notes and leaves a record. */
  notes?: RequestNotes;
  /** The account of the session, for requests to the dashboard. */
  account_id?: string;
  /** The memory that it uses; see `requestMemoryOf`. */
  memory?: RequestMemory;
  /** Writes an error in the endpoint's format; absent if that is the common shape. */
  error_body?: (error: GatewayError, request_id: string) => object;
  /** Writes an error as a stream; see `RequestFormat`. */
  error_stream?: (error: GatewayError, failed: FailedRequest) => string | undefined;
}

/** A request that rates have counted. */
export interface CountedRequest {
  /**
   * Corrects its tokens and ends it as a request at once. The second call does nothing. Never
   * rejects.
   */
  end(usage: TokenUsage): Promise<void> | void;
}

/** A request that failed; `model` is empty if it was not read. */
export interface FailedRequest {
  request_id: string;
  now_ms: number;
  model: string;
}

export type Context = ParameterizedContext<State>;
export type StageMiddleware = Middleware<State>;

/**
 * The effect of a stage on money. One that `gates` refuses an account without any. A stage that
 * `spends` needs one that `holds` before and one that `charges` after. One that `hands-over` its
 * hold to a task needs `holds` before. One that `completes` a task needs `charges-task` after.
 */
export type Money =
  | 'holds'
  | 'gates'
  | 'spends'
  | 'charges'
  | 'hands-over'
  | 'completes'
  | 'charges-task';

/** The contract of a stage with a given option. */
export interface Shape {
  needs: readonly Need[];
  gives: readonly Need[];
  /** Facts that no earlier stage may give: a stage that changes the request must precede `work`. */
  precedes?: readonly Fact[];
  money?: Money;
  /** Its endpoint takes requests for work: each leaves a record. */
  records?: true;
  /** The format in which it reads a body or writes an answer: that of its endpoint's clients. */
  format?: string;
  /** It answers the clients of all formats, each in its own. */
  all_formats?: true;
  /**
   * What it answers with, where that is not work for a request: an operation of a modality,
   * `models` for a list of models, `model` for one of them, or `hosted-image`.
   */
  answers?: string;
  /** A file of the operator's own schema, against which it checks the body. */
  own_schema?: string;
}

/**
 * One step of an endpoint. The `shape` of a stage without options is a constant. Else it is a
 * function of the option, which throws `OptionError` for an option that it does not accept.
 */
export interface Stage {
  name: string;
  shape: Shape | ((option: unknown, endpoint: EndpointEntry) => Shape);
  create(option: unknown, services: Services, endpoint: EndpointEntry): StageMiddleware;
}

/**
 * Returns a fact of the request. The type check of pipelines guarantees that an earlier stage gave
 * it; throws an `Error` otherwise.
 */
export function fact<F extends Fact>(state: State, name: F): Facts[F] {
  const value = state[name];
  if (value === undefined) throw new Error(`The fact ${name} is missing.`);
  return value as Facts[F];
}

/**
 * Returns the memory count of the request, which also counts for its account. `respond` closes it.
 */
export function requestMemoryOf(state: State, { memory, configuration }: Services): RequestMemory {
  state.memory ??= memory.forRequest(
    state.caller?.account_id,
    configuration.limits.in_flight_bytes,
  );
  return state.memory;
}

/** The shape of a stage without options: an option in gateway.yaml is a fault. */
export function withoutOption(shape: Shape): (option: unknown) => Shape {
  return (option) => {
    if (option === undefined || option === null) return shape;
    throw new OptionError('it takes no option');
  };
}

/** Formats an option for an error message. */
export function formatOption(option: unknown): string {
  return option === undefined ? 'nothing' : JSON.stringify(option);
}

/** The parameters of a request's path, decoded. */
export type PathParams = Readonly<Record<string, string | undefined>>;

/** The path parameters that the router found; empty for a path without parameters. */
export function paramsOf(ctx: object): PathParams {
  return (ctx as { params?: PathParams }).params ?? {};
}

/** Runs all stages of an endpoint. No middleware follows them. */
export type Handle = (ctx: Context) => Promise<void>;

/** Composes the stages of an endpoint in order. Throws an `Error` for an unknown stage. */
export function compose(
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  services: Services,
): Handle {
  const middlewares = endpoint.stages.flatMap(({ name, option }) => {
    const stage = stages.get(name);
    if (!stage) throw new Error(`No stage is called ${name}.`);
    const middleware = stage.create(option, services, endpoint);
    const { gives } = shapeOf(stage, option, endpoint);
    return gives.includes('caller') ? [middleware, admitInTurn(services)] : [middleware];
  });
  return (ctx) => {
    ctx.state.endpoint = endpoint.name;
    if (endpoint.traits?.records) ctx.state.notes = notesOf(ctx, services);
    return runFrom(middlewares, 0, ctx);
  };
}

/** The notes of a request, which began when it arrived. */
function notesOf({ req }: Context, { admissions }: Services): RequestNotes {
  return new RequestNotes(admissions.arrivalOf(req));
}

/** Composes the stages of an endpoint up to the one that finds its caller. */
export function composeCaller(
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  services: Services,
): Handle {
  const last = endpoint.stages.findIndex(({ name, option }) => {
    const stage = stages.get(name);
    return stage && shapeOf(stage, option, endpoint).gives.includes('caller');
  });
  const { traits: _traits, ...entry } = endpoint;
  return compose({ ...entry, stages: entry.stages.slice(0, last + 1) }, stages, services);
}

function shapeOf({ shape }: Stage, option: unknown, endpoint: EndpointEntry): Shape {
  return typeof shape === 'function' ? shape(option, endpoint) : shape;
}

/**
 * Resolves when a request may go on after it has waited; undefined if it may at once. See
 * `AdmissionQueue`.
 */
export function goOnInTurn(
  { caller }: State,
  { admissions }: Pick<Services, 'admissions'>,
): Promise<void> | undefined {
  return caller && admissions.goOn(caller.account_id);
}

/** Bounds the requests in flight, as soon as their account is known; see `AdmissionQueue`. */
function admitInTurn({ admissions, configuration }: Services): StageMiddleware {
  const { in_flight } = configuration.limits;
  return async ({ req, res, state }, next) => {
    const { account_id } = fact(state, 'caller');
    const turn = admissions.enter(account_id, in_flight, req);
    try {
      if (turn) await turn;
      if (res.destroyed) throw new ClientDisconnected(true);
      await next();
    } finally {
      admissions.leave(account_id);
    }
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
