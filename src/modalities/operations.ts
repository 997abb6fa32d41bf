import { firstAnswer } from '../pipeline/fallback.js';
import { chat } from './chat/send.js';
import type { Client } from '../http/client-connection.js';
import { images } from './image/send.js';
import {
  fact,
  workOf,
  type Context,
  type Reply,
  type Services,
  type Shape,
} from '../pipeline/stage.js';
import type { RequestSchema } from '../http/validate-body.js';
import { content } from './video/content.js';
import { result, status } from './video/result.js';
import { submit } from './video/submit.js';
import { shownOf } from './chat/shown.js';

/** What `transform: NAME` does. It says what it needs, and what it does with money. */
export interface GatewayOperation {
  shape: Shape;
  /** What the request body must satisfy, where there is one. */
  schema?: RequestSchema;
  run: (ctx: Context, client: Client, services: Services) => Promise<Reply>;
}

/** The operations that an endpoint may name in `transform`. */
export const OPERATIONS: Readonly<Record<string, GatewayOperation>> = {
  chat: {
    shape: { needs: ['model', 'upstreams', 'work:chat'], gives: ['reply'], money: 'spends' },
    schema: 'chat-completion',
    run: runChat,
  },
  image: {
    shape: { needs: ['model', 'upstreams', 'work:image'], gives: ['reply'], money: 'spends' },
    schema: 'image-generation',
    run: runImage,
  },
  'video.submit': {
    shape: {
      needs: ['caller', 'model', 'upstreams', 'work:video'],
      gives: ['reply:document'],
      money: 'hands-over',
    },
    schema: 'video-submission',
    run: submit,
  },
  'video.status': {
    shape: { needs: ['caller', 'task:task'], gives: ['reply:status'] },
    run: (ctx, _client, services) => status(ctx, services),
  },
  'video.result': {
    shape: { needs: ['caller', 'task:task'], gives: ['reply:task'], money: 'completes' },
    run: (ctx, _client, services) => result(ctx, services),
  },
  'video.content': {
    shape: { needs: ['caller', 'task:content'], gives: ['reply:content'] },
    run: content,
  },
};

/** What an image weighs in most answers: room for it is made before it is paid for. */
const IMAGE_BYTES = 1024 ** 2;

function runChat(ctx: Context, client: Client, services: Services): Promise<Reply> {
  const { configuration, network, now } = services;
  const model = fact(ctx, 'model');
  const { call } = workOf(ctx, 'chat');
  const attempt = {
    call,
    client,
    heading: {
      id: `chatcmpl-${ctx.state.request_id}`,
      created: Math.floor(now() / 1000),
      model: model.id,
    },
    shown: shownOf(model, call),
    limits: configuration.limits,
  };
  return firstAnswer(ctx, client, services, (upstream) =>
    chat(Object.assign({ upstream }, attempt), network),
  );
}

async function runImage(ctx: Context, client: Client, services: Services): Promise<Reply> {
  const { call } = workOf(ctx, 'image');
  client.room?.reserve(call.n * IMAGE_BYTES);
  return firstAnswer(ctx, client, services, (upstream) => images(call, upstream, client, services));
}
