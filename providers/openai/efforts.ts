import type { Upstream } from '../../src/core/model.js';
import { memoizeByObject } from '../../src/lib/objects.js';
import { byPrefix } from './refused-fields.js';
import { LEVELS } from './reasoning.js';

type RequestFields = Record<string, unknown>;

/**
 * The efforts that an upstream's model takes, by the flag `effort_values`: of the longest prefix of
 * its name. Null if it is not known to refuse any.
 */
export const effortsOf = memoizeByObject(
  ({ model, provider }: Upstream): readonly unknown[] | null => {
    return byPrefix(provider.wire.effort_values, model);
  },
);

/**
 * Changes `reasoning_effort` to the nearest of the efforts that the model takes, in place, or
 * leaves it out. Returns its name if the wish is not met.
 */
export function fitToEfforts(fields: RequestFields, taken: readonly unknown[]): string[] {
  const { reasoning_effort: wanted } = fields;
  if (wanted === undefined || taken.includes(wanted)) return [];
  const level = LEVELS.findIndex((one) => one === wanted);
  const near = LEVELS.filter((one) => one !== 'none' && taken.includes(one));
  const nearest = near.findLast((one) => LEVELS.indexOf(one) <= level) ?? near[0];
  if (nearest !== undefined && level >= 0) fields.reasoning_effort = nearest;
  else delete fields.reasoning_effort;
  const isNear = nearest !== undefined && level > 0;
  return isNear || (wanted === 'none' && taken.length === 0) ? [] : ['reasoning_effort'];
}
