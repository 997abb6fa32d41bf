import { usageBody } from '../chat/answer.js';
import type { TokenUsage } from '../chat/codec.js';
import type { ImageAnswer } from './operation.js';

/** The answer to an image request (specification 2.7); usage is zeros where it is not known. */
export function imagesBody({ created, data }: ImageAnswer, usage: TokenUsage): object {
  return { created, data, usage: usageBody(usage) };
}
