import { GatewayError, OptionError } from '../core/errors.js';
import { sniffImageType } from '../lib/image-type.js';
import { withoutOption, requestMemoryOf, type Stage, paramsOf } from '../pipeline/stage.js';
import { COPIES } from '../http/memory-budget.js';

const plain = withoutOption({ needs: [], gives: ['answer:content'], answers: 'hosted-image' });

/**
 * Serves a hosted image. Its path has an ID that cannot be guessed. The ID is enough to read the
 * image, because a browser that shows it has no API key.
 */
export const hostedImage: Stage = {
  name: 'hosted-image',
  shape: (option, endpoint) => {
    if (endpoint.path.match(/\{\w+\}/gu)?.join('') !== '{id}') {
      throw new OptionError('the path of its endpoint must hold {id}, and nothing else in braces');
    }
    return plain(option);
  },
  create: (_option, services) => {
    const { store, now } = services;
    return async (ctx, next) => {
      const kept = await store.images.image(paramsOf(ctx).id ?? '');
      if (!kept) throw imageExpired();
      requestMemoryOf(ctx.state, services).take(Math.ceil(kept.bytes.length / COPIES));
      const left_seconds = Math.max(0, Math.floor((kept.due_ms - now()) / 1_000));
      ctx.body = kept.bytes;
      ctx.set({
        'content-type': sniffImageType(kept.bytes),
        'cache-control': `private, max-age=${left_seconds}, immutable`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'content-disposition': 'inline',
        'access-control-allow-origin': '*',
      });
      ctx.state.answer = { body: () => undefined };
      await next();
    };
  },
};

function imageExpired(): GatewayError {
  const message = 'There is no such image here, or not any more: images are kept for a while.';
  return new GatewayError('not_found', message);
}
