import type { DefaultContext, ParameterizedContext } from 'koa';
import type { Logger } from 'pino';
import type { Configuration } from '../core/configuration.js';
import type { Caller } from '../core/model.js';
import type { ProviderHealth } from '../telemetry/provider-health.js';
import type { State } from '../pipeline/stage.js';
import type { Scope } from '../core/scopes.js';
import type { ManagementToken } from '../store/tokens/management-tokens.js';
import type { Session } from '../store/sign-in/sign-in-types.js';
import type { Store } from '../store/store-types.js';
import type { RateLimiters } from '../lib/rate-limiter.js';

/** The services of pages, sign-in and management API. One value for each configuration. */
export interface DashboardServices {
  configuration: Configuration;
  store: Store;
  rate_limiters: RateLimiters;
  log: Logger;
  /** The outcomes of this process's calls to each provider. */
  health: ProviderHealth;
  /** Why an edited configuration file could not be loaded, as operators may read it. */
  state: { readonly configuration_reason: string | undefined };
  /** Milliseconds since 1970. */
  now: () => number;
}

/**
 * A signed-in visitor. `operator` comes from the sign-in link, or for an e-mail address from the
 * current configuration.
 */
export interface Visitor {
  session: Session;
  operator: boolean;
}

/** The parameters of a path, decoded. */
export type Parameters = Readonly<Record<string, string>>;

export type DashboardContext = ParameterizedContext<State, DefaultContext & { params: Parameters }>;

/** One route of the dashboard. GET also answers HEAD. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `/api/keys/:keyID`, where a parameter is one segment; a last `*rest` takes all that follow. */
  path: string;
  /**
   * `all`: every visitor gets the same answer, so no session is read. `anyone`: with or without a
   * session. `visitor` and `operator` need a session: without one the API answers 401, and a page
   * redirects to the sign-in page.
   */
  access: 'public' | 'optional' | 'session' | 'operator';
  /** The scope that lets a management token in; a route without it takes no token. */
  scope?: Scope;
  /** Also takes an API key, which can read the records of its own calls; or takes nothing else. */
  takes_keys?: true | 'alone';
  /** Allows inline styles, which some ready-made pages need. */
  inline_styles?: boolean;
  /**
   * Writes the answer to the context. `visitor` is undefined for `all`, and for `anyone` without a
   * session, and for a request with a management token or an API key.
   */
  answer(
    ctx: DashboardContext,
    visitor: Visitor | undefined,
    token?: ManagementToken,
    caller?: Caller,
  ): Promise<void> | void;
}
