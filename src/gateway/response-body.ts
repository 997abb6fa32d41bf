import { completion } from '../modalities/chat/formats/openai-answer.js';
import { imagesBody } from '../modalities/image/openai-answer.js';
import type { Facts, Reply } from '../pipeline/stage.js';

/**
 * What the client gets in JSON for a reply and what was charged for it; undefined where the bytes
 * go another way. An answer is not to be had before its bill.
 */
export function bodyOf(
  reply: Reply | undefined,
  receipt: Facts['receipt'] | undefined,
): object | undefined {
  switch (reply?.kind) {
    case 'document':
      return reply.body;
    case 'chat':
      return completion(reply.heading, reply.reply, usageIn(receipt));
    case 'image':
      return imagesBody(reply, usageIn(receipt));
    case 'task':
      return reply.body(receipt && 'task' in receipt ? receipt.task : reply.task);
    default:
      return undefined;
  }
}

function usageIn(receipt: Facts['receipt'] | undefined) {
  if (receipt && 'usage' in receipt) return receipt.usage;
  throw new Error('The answer has no bill.');
}
