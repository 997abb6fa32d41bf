import { hasMethods } from '../../lib/objects.js';
import type { DefaultEndpoint, Operation } from '../../pipeline/modality.js';
import { fact } from '../../pipeline/stage.js';

/** Work whose prompt can be counted without an upstream. */
export interface Countable {
  /** The body of the answer, as the format of the request writes it. */
  countTokens(): Promise<object>;
}

/**
 * Estimates the tokens of a prompt, by the function that also replaces an upstream's missing usage.
 * It calls no upstream and costs nothing, so its endpoint has no hold and no charge.
 */
export const countTokens: Operation = {
  name: 'count-tokens',
  shape: { needs: ['caller', 'work:chat'], gives: ['answer'] },
  run: async (state) => {
    const work = fact(state, 'work');
    if (!isCountable(work)) throw new Error('The prompt of this work cannot be counted.');
    const body = await work.countTokens();
    return { body: () => body };
  },
};

function isCountable(work: unknown): work is Countable {
  return hasMethods(work, ['countTokens']);
}

/** The endpoint at `at` that counts the prompt of a request of the format `name`. */
export function countingEndpoint(
  name: string,
  at: string,
  also?: DefaultEndpoint['also'],
): DefaultEndpoint {
  const stages = [
    'auth',
    { validate: name },
    { route: { capability: 'chat' } },
    { transform: countTokens.name },
  ];
  return { name, at, stages, ...(also && { also }) };
}
