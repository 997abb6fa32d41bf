import type { Middleware, ParameterizedContext } from 'koa';
import type { Logger } from 'pino';
import type { Bill } from './billing/usage.js';
import type { Hold } from './billing/hold.js';
import type { ChatWork } from './chat/call.js';
import type { ChatAnswer, ChatStream } from './chat/operation.js';
import type { Configuration, EndpointEntry } from './config/types.js';
import type { ChatCompletionBody } from './schema-types/chat-completion.js';
import type { Store } from './store/types.js';
import type { Caller, Model, Upstream } from './types.js';
import type { Network } from './upstream/types.js';

/** A checked request body, named by the schema whose promise it keeps. */
export type Request = { schema: 'chat-completion'; body: ChatCompletionBody };

/** What the client gets: a document that costs nothing, or an upstream's answer. */
export type Reply = { kind: 'document'; body: object } | ChatAnswer | ChatStream;

/** The facts of a request. Each is given by exactly one stage of its endpoint. */
export interface Facts {
  caller: Caller;
  request: Request;
  model: Model;
  /** Best first. */
  upstreams: readonly Upstream[];
  /** The request in the gateway's own words, fitted to the model. */
  work: ChatWork;
  hold: Hold;
  reply: Reply;
  receipt: Bill;
}

export type Fact = keyof Facts;

/** A fact that a stage needs, where it matters also of which kind: `work:chat`. */
export type Need = Fact | `${Fact}:${string}`;

export interface State extends Partial<Facts> {
  request_id: string;
  endpoint?: string;
}

export type Context = ParameterizedContext<State>;
export type StageMiddleware = Middleware<State>;

/** What stages may use. One value for each configuration; the store and network outlive reloads. */
export interface Services {
  configuration: Configuration;
  store: Store;
  network: Network;
  log: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
  /** From 0 to 1, for sharing load. */
  random: () => number;
  /** Requests under way, each with the means to end it. */
  inflight: Set<{ stop(reason: Error): void }>;
}

/** What a stage does with money: an endpoint that spends must hold before and settle after. */
export type Money = 'holds' | 'spends' | 'settles';

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

/** A stage's option is wrong: a sentence, and the right words where they are known. */
export class OptionError extends Error {
  override name = 'OptionError';
  constructor(
    message: string,
    readonly choices: readonly string[] = [],
  ) {
    super(message);
  }
}

/** Reads a fact that the order of the stages, checked at boot, has made sure of. */
export function fact<F extends Fact>(ctx: Context, name: F): Facts[F] {
  const value = ctx.state[name];
  if (value === undefined) throw new Error(`The fact ${name} is missing.`);
  return value as Facts[F];
}

/** The middleware of an endpoint, first to last, made once when a configuration is taken up. */
export function build(
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  services: Services,
): StageMiddleware[] {
  return endpoint.stages.map(({ name, option }) => {
    const stage = stages.get(name);
    if (!stage) throw new Error(`No stage is called ${name}.`);
    return stage.create(option, services, endpoint);
  });
}
