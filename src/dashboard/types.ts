import type { DefaultContext, ParameterizedContext } from 'koa';
import type { Logger } from 'pino';
import type { Configuration } from '../core/configuration.js';
import type { ProviderHealth } from '../telemetry/provider-health.js';
import type { State } from '../pipeline/stage.js';
import type { Session } from '../store/sign-in/sign-in-types.js';
import type { Store } from '../store/store-types.js';
import type { RateLimiters } from '../lib/rate-limiter.js';

/** What the pages, the sign-in and the management API use. One value for each configuration. */
export interface DashboardServices {
  configuration: Configuration;
  store: Store;
  rate_limiters: RateLimiters;
  log: Logger;
  /** How the calls of this process to each provider end. */
  health: ProviderHealth;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** Who asks. `operator` is settled: by the link, or by the address under the present file. */
export interface Visitor {
  session: Session;
  operator: boolean;
}

/** What a path's parameters are, decoded. */
export type Parameters = Readonly<Record<string, string>>;

export type DashboardContext = ParameterizedContext<State, DefaultContext & { params: Parameters }>;

/** One route of the dashboard; what it answers, it puts on the context. GET takes HEAD too. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** `/api/keys/:keyID`, where a parameter is one segment; a last `*rest` takes all that follow. */
  path: string;
  /**
   * `all`: the same for everybody, so the store is not asked who it is; `anyone`: whoever it is; or
   * who must be signed in: a 401 (API) or the sign-in page (pages) meets others.
   */
  who: 'all' | 'anyone' | 'visitor' | 'operator';
  /** Lets the page style its elements inline, as makers of some ready-made pages want it. */
  inline_styles?: boolean;
  /** `visitor` is there unless `who` is `all`, or `anyone` and nobody is signed in. */
  answer(ctx: DashboardContext, visitor: Visitor | undefined): Promise<void> | void;
}
