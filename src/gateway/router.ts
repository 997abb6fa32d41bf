import Router from '@koa/router';
import Koa from 'koa';
import type { RequestListener } from 'node:http';
import { inNextTurn } from '../lib/event-loop-turns.js';
import { preflight, allowCors } from './cors.js';
import { respond } from './respond.js';
import type { Configuration, EndpointEntry } from '../core/configuration.js';
import { OwnSocket } from '../http/own-connection.js';
import { isHandshake } from '../http/upgrade.js';
import { createDashboard } from '../dashboard/index.js';
import { GatewayError } from '../core/errors.js';
import { nearestEndpoint } from './nearest-endpoint.js';
import { health, PROBES, storeWatch, type Health } from './probes.js';
import {
  compose,
  composeCaller,
  type Context,
  type Handle,
  type Stage,
  type State,
} from '../pipeline/stage.js';
import {
  formatOf,
  formatOfPath,
  clientFormatReader,
  type RequestFormat,
} from '../pipeline/modality.js';
import type { Services } from '../pipeline/services.js';
import { MODALITIES } from '../modalities/index.js';
import { randomUUID } from 'node:crypto';

/**
 * Makes the listener for the requests of one configuration. All stages are looked up and composed
 * here.
 */
export function createListener(
  stages: ReadonlyMap<string, Stage>,
  services: Services,
  state: Health,
): RequestListener {
  const app = new Koa<State>();
  app.silent = true;
  const router = new Router<State>();
  const lookAtStore = storeWatch(services.store, state);
  const answer = respond(services, state, lookAtStore);
  const { cors, endpoints, dashboard } = services.configuration;
  const fixed = new Map<string, Handle>();
  const handshakes = new Map<string, Handle>();
  for (const endpoint of endpoints) {
    const { method, path } = endpoint;
    const run = allowCors(cors, withFormat(endpoint, compose(endpoint, stages, services)));
    router.register(routerPath(endpoint), [method], [run]);
    if (!path.includes('{') && !PROBES.has(path)) fixed.set(`${method} ${path}`, run);
    if (formatOf(MODALITIES, endpoint)?.socket) {
      const findCaller = withFormat(endpoint, composeCaller(endpoint, stages, services));
      handshakes.set(path, acceptAfter(findCaller, services.configuration));
    }
  }
  app.use(async (ctx, next) => {
    const { req, state: facts } = ctx;
    facts.time_ms = services.now();
    facts.request_id = requestId(facts.time_ms);
    if (isHandshake(req)) {
      const accept = req.socket instanceof OwnSocket ? handshakes.get(ctx.path) : undefined;
      return answer(ctx, () => accept?.(ctx) ?? Promise.reject(noWebSocket(ctx)));
    }
    // Most requests are for a path without parameters: no pattern of the router is tried for it.
    const run = fixed.get(`${req.method} ${req.url}`);
    return run ? answer(ctx, () => run(ctx)) : next();
  });
  app.use(nameRequest);
  app.use(decodeColon);
  app.use(health(state, services, lookAtStore));
  app.use(answer);
  if (dashboard) app.use(createDashboard({ ...services, state }));
  if (cors.length > 0) app.use(preflight(cors, router));
  app.use(router.routes());
  app.use((ctx) => refuseUnmatched(ctx, router, endpoints));
  const handle = app.callback();
  const { admissions, configuration } = services;
  const { in_flight } = configuration.limits;
  return (req, res) => {
    const turn = admissions.arrive(req, in_flight);
    if (!turn) return inNextTurn(() => void handle(req, res));
    void turn.then(() => handle(req, res)).finally(() => admissions.forget(req));
  };
}

/**
 * Accepts a handshake whose key is known. It comes from `WebSockets`, which wants to know no more.
 */
function acceptAfter(
  findCaller: Handle,
  { cors, public_url }: Pick<Configuration, 'cors' | 'public_url'>,
): Handle {
  const own = URL.canParse(public_url) ? [new URL(public_url).origin] : [];
  const allowed = new Set([...cors, ...own]);
  return async (ctx) => {
    // No preflight request asks for leave, and a page reads all that a socket brings.
    const { origin } = ctx.req.headers;
    if (origin !== undefined && !allowed.has(origin) && !allowed.has('*')) {
      throw new GatewayError('forbidden', 'Pages of this origin may not open a WebSocket here.');
    }
    await findCaller(ctx);
    const { socket } = ctx.req;
    if (socket instanceof OwnSocket) socket.account_id = ctx.state.caller?.account_id;
    ctx.res.writeHead(101, { connection: 'Upgrade', upgrade: 'websocket' }).end();
  };
}

/** The refusal of a handshake where none is served: clients such as codex go on over HTTP. */
function noWebSocket(ctx: Context): GatewayError {
  speakAs(ctx, formatOfPath(MODALITIES, ctx.method, ctx.path));
  const message = `No WebSocket is served at ${ctx.path} now: send the request over HTTP.`;
  return new GatewayError('upgrade_required', message, {
    headers: { upgrade: 'HTTP/1.1', connection: 'Upgrade' },
  });
}

/** Runs the stages, after choosing how answers are written for the clients of the endpoint. */
function withFormat(endpoint: EndpointEntry, runStages: Handle): Handle {
  const clientFormat = clientFormatReader(MODALITIES, endpoint);
  if (clientFormat) {
    return (ctx) => {
      speakAs(ctx, clientFormat(ctx.req.headers));
      return runStages(ctx);
    };
  }
  const format = formatOf(MODALITIES, endpoint);
  if (!format?.error && !format?.errorStream && !format?.id_header) return runStages;
  return (ctx) => {
    speakAs(ctx, format);
    return runStages(ctx);
  };
}

/** Writes errors in the words of a format, and the header in which its clients look for the ID. */
function speakAs({ state, res }: Context, format: RequestFormat | undefined): void {
  if (format?.error) state.error_body = format.error.bind(format);
  if (format?.errorStream) state.error_stream = format.errorStream.bind(format);
  if (format?.id_header) res.setHeader(format.id_header, state.request_id);
}

/** Tells the client the ID of its request, which `respond` does where it writes the answer. */
function nameRequest(ctx: Context, next: Koa.Next): Promise<unknown> {
  ctx.set('x-request-id', ctx.state.request_id);
  return next();
}

/**
 * Decodes the colon before the method of a model (`models/x:generateContent`), which some clients
 * encode.
 */
function decodeColon(ctx: Koa.Context, next: Koa.Next): Promise<unknown> {
  if (ctx.method === 'POST') ctx.path = ctx.path.replace(/%3a(\w{1,64})$/iu, ':$1');
  return next();
}

/**
 * The path in the router's syntax. `{model}` matches slashes too; other parameters are one segment.
 */
function routerPath({ path }: EndpointEntry): string {
  const literal = path.replaceAll(':', '\\:');
  return literal.replaceAll(/\{(\w+)\}/gu, (_all, name: string) =>
    name === 'model' ? '*model' : `:${name}`,
  );
}

function refuseUnmatched(
  ctx: Context,
  router: Router<State>,
  endpoints: readonly EndpointEntry[],
): void {
  speakAs(ctx, formatOfPath(MODALITIES, ctx.method, ctx.path));
  const { path: layers } = router.match(ctx.path, ctx.method);
  const methods = PROBES.has(ctx.path) ? ['HEAD', 'GET'] : layers.flatMap((layer) => layer.methods);
  const allowed = [...new Set(methods)];
  // The path of a model also matches that of an unknown method of it, `models/x:foo`.
  if (allowed.length === 0 || (ctx.method === 'POST' && /:\w+$/u.test(ctx.path))) {
    const nearest = nearestEndpoint(endpoints, ctx.method, ctx.path);
    if (nearest) speakAs(ctx, formatOf(MODALITIES, nearest.endpoint));
    // The client learns from the status that its address is wrong, also where it wants a stream.
    delete ctx.state.error_stream;
    const hint = nearest ? ` Did you mean ${ctx.method} ${nearest.path}?` : '';
    throw new GatewayError('not_found', `There is nothing at ${ctx.method} ${ctx.path}.${hint}`);
  }
  throw new GatewayError('method_not_allowed', `${ctx.path} does not take ${ctx.method}.`, {
    headers: { allow: allowed.join(', ') },
  });
}

/** The first characters of a UUID, which version 7 fills with the time. */
const TIME_CHARACTERS = 15;

/** The first digits of the last ID: all IDs of one millisecond share them. */
let head = { now_ms: NaN, text: '' };

/**
 * A UUID of version 7. It cannot be guessed. IDs sort by time, so the ledger's unique index grows
 * at its end.
 */
export function requestId(now_ms: number): string {
  if (head.now_ms !== now_ms) {
    const time = now_ms.toString(16).padStart(12, '0');
    head = { now_ms, text: `${time.slice(0, 8)}-${time.slice(8)}-7` };
  }
  return head.text + randomUUID().slice(TIME_CHARACTERS);
}
