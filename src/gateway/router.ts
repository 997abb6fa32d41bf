import Router from '@koa/router';
import Koa from 'koa';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { preflight, shareWith } from './cors.js';
import { respond } from './respond.js';
import type { EndpointEntry } from '../core/configuration.js';
import { createDashboard } from '../dashboard/index.js';
import { GatewayError } from '../core/errors.js';
import { health, PROBES, type Health } from './probes.js';
import { type Context, type Stage, type State, compose, type Handle } from '../pipeline/stage.js';
import { formatOf, speakerAt } from '../pipeline/modality.js';
import type { Services } from '../pipeline/services.js';
import { MODALITIES } from '../modalities/index.js';
import { builtInStages } from '../stages/index.js';
import { randomUUID } from 'node:crypto';

const BUILT_IN: ReadonlySet<string> = new Set(builtInStages(MODALITIES).keys());

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** The handler of all requests under one configuration. Nothing is looked up by name later. */
export function createApp(
  stages: ReadonlyMap<string, Stage>,
  services: Services,
  state: Health,
): Handler {
  const app = new Koa<State>();
  app.silent = true;
  const router = new Router<State>();
  const answer = respond(services, state);
  const direct = new Map<string, Map<string, Handle>>();
  const { cors, endpoints, dashboard } = services.configuration;
  for (const endpoint of endpoints) {
    const { method, path } = endpoint;
    const walk = compose(endpoint, stages, services);
    const run = shareWith(cors, sayingErrors(endpoint, walk));
    router.register(routerPath(endpoint), [method], [run]);
    if (!isDirect(endpoint)) continue;
    const methods = direct.get(path) ?? new Map<string, Handle>();
    direct.set(
      path,
      methods.set(method, (ctx) => answer(ctx, () => run(ctx))),
    );
  }
  app.use(identifying(services.now));
  app.use(health(state, services));
  app.use(answer);
  if (dashboard) app.use(createDashboard({ ...services, state }));
  if (cors.length > 0) app.use(preflight(cors, router));
  app.use(router.routes());
  app.use((ctx) => refuseUnmatched(ctx, router));
  const handle = app.callback();
  return (req, res) => {
    const run = direct.get(req.url ?? '')?.get(req.method ?? '');
    if (!run) return handle(req, res);
    const ctx = app.createContext<State>(req, res);
    res.statusCode = 404;
    ctx.state.request_id = requestId(services.now());
    // `respond` lets no error out; were there one, it must not end the process.
    return run(ctx).catch(() => void res.destroy());
  };
}

/**
 * Most calls go to a path without parameters, which needs no pattern to be found by, and its stages
 * leave nothing for Koa to answer: without what it does around them it costs a tenth less.
 */
function isDirect({ path, stages }: EndpointEntry): boolean {
  return !path.includes('{') && !PROBES.has(path) && stages.every(({ name }) => BUILT_IN.has(name));
}

/** The stages of an endpoint whose clients are told errors in a way of their own. */
function sayingErrors(endpoint: EndpointEntry, walk: Handle): Handle {
  const speaker = speakerAt(MODALITIES, endpoint);
  if (speaker) {
    return (ctx) => {
      const said = speaker(ctx.req.headers);
      if (said?.error) ctx.state.error_body = said.error.bind(said);
      return walk(ctx);
    };
  }
  const format = formatOf(MODALITIES, endpoint);
  const error_body = format?.error?.bind(format);
  const error_stream = format?.errorStream?.bind(format);
  if (!error_body && !error_stream) return walk;
  return (ctx) => {
    if (error_body) ctx.state.error_body = error_body;
    if (error_stream) ctx.state.error_stream = error_stream;
    return walk(ctx);
  };
}

/** Even a probe has an id, by which its client and the log can speak of it. */
function identifying(now: () => number): Koa.Middleware<State> {
  return (ctx, next) => {
    ctx.state.request_id = requestId(now());
    ctx.set('x-request-id', ctx.state.request_id);
    return next();
  };
}

/** `{model}` may hold slashes, so it takes all it can get; other parameters are one segment. */
function routerPath({ path }: EndpointEntry): string {
  const literal = path.replaceAll(':', '\\:');
  return literal.replaceAll(/\{(\w+)\}/gu, (_all, name: string) =>
    name === 'model' ? '*model' : `:${name}`,
  );
}

function refuseUnmatched(ctx: Context, router: Router<State>): void {
  const { path: layers } = router.match(ctx.path, ctx.method);
  const methods = PROBES.has(ctx.path) ? ['HEAD', 'GET'] : layers.flatMap((layer) => layer.methods);
  const allowed = [...new Set(methods)];
  if (allowed.length === 0) {
    throw new GatewayError('not_found', `There is nothing at ${ctx.method} ${ctx.path}.`);
  }
  throw new GatewayError('method_not_allowed', `${ctx.path} does not take ${ctx.method}.`, {
    headers: { allow: allowed.join(', ') },
  });
}

/** Characters of a random UUID before its variant and the rest of its random digits. */
const TIMED_PART = 15;

/** The digits that all ids of one millisecond share, kept for the next call. */
let head = { now_ms: NaN, text: '' };

/**
 * A UUID, version 7. It cannot be guessed, and ids sort by time, so that the ledger's unique index
 * grows at its end.
 */
export function requestId(now_ms: number): string {
  if (head.now_ms !== now_ms) {
    const time = now_ms.toString(16).padStart(12, '0');
    head = { now_ms, text: `${time.slice(0, 8)}-${time.slice(8)}-7` };
  }
  return head.text + randomUUID().slice(TIMED_PART);
}
