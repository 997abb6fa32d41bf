/**
 * What a stage of an operator's own may rely on: `import type { Stage } from 'tollgate/stage'`.
 * docs/stages.md explains it. These types are a part of what the gateway has inside, which
 * `test/pipeline/stage-api.test.ts` holds to them. They import nothing, so that a plugin needs no
 * types of other packages.
 */

/**
 * A validated request body, and the name of the format whose schema it satisfies. It is gone
 * from the state when `transform` begins.
 */
export interface Request {
  readonly format: string;
  /** A stage that `precedes` `work` may change it. */
  readonly body: object;
}

/** The API key of a request. */
export interface Caller {
  readonly key_id: string;
  readonly account_id: string;
  /** The only models that the key may use; undefined if it may use all. */
  readonly models: readonly string[] | undefined;
}

/** An entry under `models`. */
export interface Model {
  readonly id: string;
  readonly owner: string;
  readonly capabilities: ReadonlySet<string>;
  readonly limits: {
    readonly max_tokens: number | undefined;
    readonly context: number | undefined;
  };
}

/** A request as its model takes it. */
export interface Work {
  /** In the order in which they are tried. */
  readonly upstreams: readonly { readonly provider: { readonly name: string }; model: string }[];
  /** Names of the request fields that are left out. */
  readonly ignored: readonly string[];
}

/** A video task, and the index of one of its videos. */
export interface RoutedTask {
  readonly task: { readonly id: string; readonly model: string; readonly status: string };
  readonly index: number;
}

/** The money that is set aside for a request; null for a free one. */
export interface Hold {
  readonly amount_nano: bigint | null;
}

export interface Answer {
  /** The HTTP status; 200 by default. */
  readonly status?: number;
  /** JSON, as a value or as text; undefined if the answer has been sent, as a stream is. */
  body(): object | string | undefined;
}

/** What was charged, in nano-dollars (1e-9 US dollars). */
export interface Receipt {
  readonly cost_nano: bigint;
  /** The part of the cost that account and key could not pay. */
  readonly uncollected_nano: bigint;
  /** Whether the gateway counted, because the upstream reported no usage. */
  readonly estimated: boolean;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** The facts of a request. Each is given by one stage of its endpoint. */
export interface Facts {
  caller: Caller;
  request: Request;
  model: Model;
  work: Work;
  task: RoutedTask;
  hold: Hold;
  answer: Answer;
  receipt: Receipt;
}

export type Fact = keyof Facts;

/** A fact with its kind where that matters: `request:messages`, `request:messages|responses`. */
export type Need = Fact | `${Fact}:${string}`;

/** `ctx.state`. The facts in `Needs` are there, as the shape of the stage needs them. */
export type State<Needs extends Fact = never> = Pick<Facts, Needs> & {
  [F in Exclude<Fact, Needs>]?: Facts[F] | undefined;
} & {
  /** The answer's `x-request-id`, and the reference of its charge. */
  readonly request_id: string;
  /** When the request arrived, in ms since 1970. */
  readonly time_ms: number;
};

/** The part of Koa's context that a stage needs. */
export interface Context<Needs extends Fact = never> {
  readonly state: State<Needs>;
  readonly method: string;
  readonly path: string;
  /** A header of the request; empty if it has none. */
  get(header: string): string;
  /** Sets a header of the answer. */
  set(header: string, value: string): void;
  /**
   * Refuses the request with a status from 400 to 499 and a message that the client sees, in the
   * format of the endpoint's errors. Any other error is answered 500, without its message.
   */
  throw(status: number, message: string): never;
}

/** Runs the next stage, once. Resolves when all stages behind it have ended. */
export type Next = () => Promise<void>;

export type Middleware<Needs extends Fact = never> = (
  ctx: Context<Needs>,
  next: Next,
) => Promise<void> | void;

/** Replaces a text by the result; undefined leaves it. `field` is written `messages[2].content`. */
export type ChangeText = (text: string, field: string) => string | undefined;

export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export interface Services {
  /** Calls `change` for each text of a request, in every format. */
  eachText(request: Request, change: ChangeText): void;
  readonly log: Log;
  /** Milliseconds since 1970. */
  now(): number;
  /** The configuration in force. */
  readonly configuration: {
    readonly file: string;
    readonly public_url: string;
    readonly models: ReadonlyMap<string, Model>;
  };
}

export interface Endpoint {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly stages: readonly { readonly name: string; readonly option: unknown }[];
}

/** The contract of a stage with a given option. */
export interface Shape {
  readonly needs: readonly Need[];
  readonly gives: readonly Need[];
  /** Facts that no earlier stage may give: a stage that changes the request must precede `work`. */
  readonly precedes?: readonly Fact[];
  /** Its endpoint takes requests for work: each leaves a record. */
  readonly records?: true;
  /** The format in which it reads a body or writes an answer: that of its endpoint's clients. */
  readonly format?: string;
  /** What it answers with, for the document of the API; see docs/stages.md. */
  readonly answers?: string;
}

/**
 * The default export of a plugin. `Option` is the value behind its name in gateway.yaml, which
 * `shape` has checked: it throws an `Error` whose message `tollgate check` reports. `Needs` are the
 * facts in `needs`.
 */
export interface Stage<Option = unknown, Needs extends Fact = never> {
  readonly name: string;
  readonly shape: Shape | ((option: unknown, endpoint: Endpoint) => Shape);
  /** Called once for each configuration. */
  create(option: Option, services: Services, endpoint: Endpoint): Middleware<Needs>;
}
