import { chatWork } from '../modalities/chat/formats/openai-request.js';
import { ignoredHeader } from '../lib/ignored-header.js';
import { GatewayError, modelNotAllowed } from '../core/errors.js';
import { imageWork, priced } from '../modalities/image/request.js';
import { inWords } from '../pipeline/option.js';
import {
  fact,
  type Request,
  type RoutedTask,
  type Services,
  type Stage,
  type Work,
} from '../pipeline/stage.js';
import type { RequestSchema } from '../http/validate-body.js';
import { fitting, videoWork } from '../modalities/video/request.js';
import { findTask } from '../modalities/video/find-task.js';
import type { Capability, Model, Upstream } from '../core/model.js';
import { OptionError } from '../core/option-error.js';
import { modelIn } from '../http/params.js';

/** What each kind of work is asked for with, by the capability that an endpoint routes to. */
const REQUESTS: Partial<Record<Capability, RequestSchema>> = {
  chat: 'chat-completion',
  image: 'image-generation',
  video: 'video-submission',
};

/**
 * Finds the model, checks that it can do the work, puts its upstreams in order, and fits the
 * request to it (DESIGN: capabilities). `route: task` and `route: content` find the video task that
 * the path names.
 */
export const route: Stage = {
  name: 'route',
  shape: (option) => {
    if (isTask(option)) return { needs: ['caller'], gives: [`task:${option}`] };
    const capability = capabilityOf(option);
    return {
      needs: ['caller', `request:${REQUESTS[capability] ?? capability}`],
      gives: ['model', 'upstreams', `work:${capability}`],
    };
  },
  create: (option, services) => {
    if (isTask(option)) {
      return async (ctx, next) => {
        ctx.state.task = await findTask(ctx, services, option);
        await next();
      };
    }
    const capability = capabilityOf(option);
    return (ctx, next) => {
      const request = fact(ctx, 'request');
      const id = request.schema === 'video-submission' ? modelIn(ctx) : request.body.model;
      const model = findModel(id, capability, fact(ctx, 'caller').models, services);
      const work = workFor(request, model);
      if (work.ignored.length > 0) ctx.set('tollgate-ignored', ignoredHeader(work.ignored));
      const upstreams = inOrder(ableOf(work, model), services.random);
      ctx.state.model = model;
      ctx.state.work = work;
      ctx.state.upstreams = upstreams;
      return next();
    };
  },
};

/** The request in the gateway's own words, as that model takes it. */
function workFor(request: Request, model: Model): Work {
  if (request.schema === 'video-submission') return videoWork(request.body, model);
  if (request.schema === 'image-generation') return imageWork(request.body, model);
  return chatWork(request.body, model);
}

/** Those of the upstreams that can do the work. */
function ableOf(work: Work, model: Model): readonly Upstream[] {
  const { upstreams } = model;
  if (work.kind === 'video') return fitting(work.call, upstreams);
  if (work.kind === 'image') return priced(work.call, model);
  return upstreams;
}

function isTask(option: unknown): option is RoutedTask['kind'] {
  return option === 'task' || option === 'content';
}

function capabilityOf(option: unknown): Capability {
  const names = Object.keys(REQUESTS);
  const asked = (option as { capability?: unknown } | null | undefined)?.capability;
  const found = names.find((name) => name === asked);
  if (found === undefined) {
    throw new OptionError(`${inWords(asked)} is not a capability to route to`, names);
  }
  return found as Capability;
}

function findModel(
  id: string,
  capability: Capability,
  allowed: readonly string[] | undefined,
  { configuration }: Services,
): Model {
  const model = configuration.models.get(id);
  if (!model) {
    throw new GatewayError(
      'model_not_found',
      `There is no model "${id}" here: GET /v1/models lists those there are.`,
      { param: 'model' },
    );
  }
  if (allowed && !allowed.includes(id)) throw modelNotAllowed(id);
  if (!model.capabilities.has(capability)) {
    throw new GatewayError(
      'unsupported_capability',
      `The model "${id}" does not do ${capability}.`,
      {
        param: 'model',
      },
    );
  }
  return model;
}

/**
 * The order to try upstreams in: as written, but neighbours that carry a weight share the load
 * among themselves in that proportion.
 */
export function inOrder(upstreams: readonly Upstream[], random: () => number): readonly Upstream[] {
  if (upstreams.length === 1) return upstreams;
  const ordered: Upstream[] = [];
  for (let from = 0; from < upstreams.length;) {
    let to = from + 1;
    if (upstreams[from]?.weight !== undefined) {
      while (upstreams[to]?.weight !== undefined) to += 1;
    }
    ordered.push(...byWeight(upstreams.slice(from, to), random));
    from = to;
  }
  return ordered;
}

function byWeight(group: Upstream[], random: () => number): Upstream[] {
  const drawn: Upstream[] = [];
  while (group.length > 1) {
    let rest = random() * group.reduce((sum, { weight }) => sum + (weight ?? 1), 0);
    const at = group.findIndex(({ weight }) => (rest -= weight ?? 1) < 0);
    drawn.push(...group.splice(Math.max(at, 0), 1));
  }
  return [...drawn, ...group];
}
