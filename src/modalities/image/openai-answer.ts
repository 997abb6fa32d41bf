import { usageBody } from '../chat/formats/openai-answer.js';
import type { TokenUsage } from '../chat/codec.js';
import type { ImageAnswer } from './send.js';

/** The answer to an image request (specification 2.7); usage is zeros where it is not known. */
export function imagesBody({ created, data }: ImageAnswer, usage: TokenUsage): object {
  return { created, data, usage: usageBody(usage) };
}
