import { modelNamed } from '../core/configuration.js';
import {
  mayUseModel,
  publicName,
  type Caller,
  type Capability,
  type Model,
} from '../core/model.js';
import { isRecord } from '../lib/objects.js';
import { GatewayError, modelNotAllowed, modelNotFound, OptionError } from '../core/errors.js';
import {
  paramsOf,
  formatOption,
  fact,
  sealedBody,
  type Context,
  type Stage,
  type State,
} from '../pipeline/stage.js';
import type { Services } from '../pipeline/services.js';
import type { ReadMedia } from '../pipeline/work.js';
import { ignoredHeader } from '../http/ignored-header.js';
import { FallbackWork, type ModelWork } from '../pipeline/fallback-work.js';
import type { FindTask, Modalities, Modality, RequestFormat } from '../pipeline/modality.js';
import { withMissingCapability } from '../pipeline/missing-capability.js';
import { chancesOf, orderByWeight } from '../pipeline/upstream-order.js';
import type { Work } from '../pipeline/work.js';
import { quote } from '../yaml/source.js';

/**
 * Finds the model, checks that it has the capability, puts its upstreams in order, and fits the
 * request to the model. `route: task` and `route: content` find the task that the path names.
 */
export function route(modalities: Modalities): Stage {
  const tasks = new Map<unknown, FindTask>(
    [...modalities.values()].flatMap((modality) => Object.entries(modality.tasks)),
  );
  return {
    name: 'route',
    shape: (option) => {
      if (tasks.has(option)) return { needs: ['caller'], gives: [`task:${String(option)}`] };
      const { name, formats } = modalityOf(modalities, option);
      const kinds = formats.map((format) => format.name).join('|');
      return { needs: ['caller', `request:${kinds}`], gives: ['model', `work:${name}`] };
    },
    create: (option, services) => {
      const findTask = tasks.get(option);
      if (findTask) {
        return async (ctx, next) => {
          const { state } = ctx;
          const params = paramsOf(ctx);
          const model = modelNamed(services.configuration, params.model ?? '');
          // The record of a refusal names the model too.
          if (model) state.model = model;
          state.task = await findTask(params, state, services);
          await next();
        };
      }
      const modality = modalityOf(modalities, option);
      const formats = new Map(modality.formats.map((format) => [format.name, format]));
      return (ctx, next) => {
        const { state } = ctx;
        const request = fact(state, 'request');
        const format = formats.get(request.format);
        const id = format?.modelOf(sealedBody(request), paramsOf(ctx)) ?? '';
        const model = modelNamed(services.configuration, id);
        if (!model) throw modelNotFound(id);
        // Before the checks: the record of a refusal names the model too.
        state.model = model;
        refuseUse(model, modality.name, fact(state, 'caller'));
        const work = plan(modality, format, request, model);
        if (work.ignored.length > 0) ctx.set('tollgate-ignored', ignoredHeader(work.ignored));
        if (work.adjusted?.length) ctx.set('tollgate-adjusted', work.adjusted.join(', '));
        orderUpstreams(work, ctx, services);
        const others = fallbackWorks(modality, format, ctx, model, services);
        const whole = others.length > 0 ? new FallbackWork({ model, work }, others) : work;
        state.work = whole;
        const { measure } = whole;
        return measure ? measure(mediaReader(state, services)).then(next) : next();
      };
    },
  };
}

/**
 * The same request for the fallback models of its model that take it, and that the key may use.
 * Their answers have the name by which the client asked.
 */
function fallbackWorks(
  modality: Modality,
  format: RequestFormat | undefined,
  ctx: Context,
  model: Model,
  services: Services,
): ModelWork[] {
  const { configuration } = services;
  const request = fact(ctx.state, 'request');
  const { models: allowed } = fact(ctx.state, 'caller');
  return (model.fallback ?? []).flatMap((id): ModelWork[] => {
    const other = configuration.models.get(id);
    if (!other || !mayUseModel(allowed, other)) return [];
    try {
      const named = { ...other, alias: publicName(model) };
      const work = plan(modality, format, request, named);
      orderUpstreams(work, ctx, services);
      return [{ model: named, work }];
    } catch (error) {
      if (error instanceof GatewayError) return [];
      throw error;
    }
  });
}

/**
 * Puts the upstreams of a work in the order in which they are tried. Those that share the load are
 * drawn by the conversation, so that its prompts are read from the cache of one of them.
 */
function orderUpstreams(work: Work, { req, state }: Context, { random }: Services): void {
  const beginning = work.beginning?.bind(work);
  if (!beginning) {
    work.upstreams = orderByWeight(work.upstreams, random);
    return;
  }
  const { account_id } = fact(state, 'caller');
  const body = sealedBody(fact(state, 'request'));
  const chanceOf = chancesOf({ account_id, body, headers: req.headers, beginning });
  work.upstreams = orderByWeight(work.upstreams, chanceOf);
  work.home = work.upstreams[0];
}

function mediaReader(state: State, { media, configuration }: Services): ReadMedia {
  const { account_id } = fact(state, 'caller');
  const { media_ms: limit_ms, media_memory_bytes: max_bytes } = configuration.limits;
  return (files) => media.read(files, { account_id, limit_ms, max_bytes });
}

function modalityOf(modalities: Modalities, option: unknown): Modality {
  const capability = (option as { capability?: unknown } | null | undefined)?.capability;
  const found = typeof capability === 'string' ? modalities.get(capability) : undefined;
  if (found) return found;
  if (typeof option === 'string' && modalities.has(option)) {
    throw new OptionError(`its option is a block: write route: { capability: ${option} }`);
  }
  const [other] = Object.keys(isRecord(option) ? option : {});
  if (other !== undefined && capability === undefined) {
    throw new OptionError(`unknown key ${quote(other)}: its one key is capability`);
  }
  throw new OptionError(`${formatOption(capability)} is not a capability to route to`, [
    ...modalities.keys(),
  ]);
}

function plan(
  modality: Modality,
  format: RequestFormat | undefined,
  request: Parameters<Modality['plan']>[0],
  model: Model,
): Work {
  try {
    return modality.plan(request, model);
  } catch (error) {
    throw withMissingCapability(error, format, request.body, model);
  }
}

/** Throws `GatewayError` (400) where the key may not use the model, or it lacks the capability. */
function refuseUse(model: Model, capability: Capability, { models: allowed }: Caller): void {
  const name = publicName(model);
  if (!mayUseModel(allowed, model)) throw modelNotAllowed(name);
  if (model.capabilities.has(capability)) return;
  const message = `The model "${name}" does not do ${capability}.`;
  throw new GatewayError('unsupported_capability', message, { param: 'model' });
}
