import type { DefaultEndpoint } from './modality.js';

/**
 * An endpoint at `at` (method and path) that holds money, calls the modality and charges the
 * answer.
 */
export function spendingEndpoint(
  name: string,
  at: string,
  { modality, format }: { modality: string; format: string },
): DefaultEndpoint {
  const stages = [
    'auth',
    { validate: format },
    { route: { capability: modality } },
    'balance',
    { transform: modality },
    'meter',
  ];
  return { name, at, stages };
}
