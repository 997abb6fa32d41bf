import type { ImageAnswer } from './send.js';
import { type TokenUsage, usageBody } from '../../core/usage.js';

/** The answer to an image request (specification 2.7); usage is zeros where it is not known. */
export function imagesBody({ created, data }: ImageAnswer, usage: TokenUsage): object {
  return { created, data, usage: usageBody(usage) };
}
