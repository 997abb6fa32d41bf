import { UpstreamError } from '../core/upstream-error.js';

/** The values that a template can read: `$`, and values with names of their own. */
export interface Scope {
  at: unknown;
  names: Readonly<Record<string, unknown>>;
  /** The index of `$` in the list of the nearest `each`. */
  index: number | undefined;
  budget: Budget;
}

/** A compiled template. It returns undefined for an absent value, whose key is then left out. */
export type Template = (scope: Scope) => unknown;

const MAX_VALUES = 100_000;
const MAX_CHARACTERS = 80 * 1024 * 1024;
const MAX_DEPTH = 64;

/** The budget of one evaluation, so that no answer of an upstream grows far beyond its size. */
export class Budget {
  #values = MAX_VALUES;
  #characters = MAX_CHARACTERS;

  /** Throws `UpstreamError` if the template has produced too many values, or too much text. */
  take(values: number, characters = 0): void {
    this.#values -= values;
    this.#characters -= characters;
    if (this.#values < 0 || this.#characters < 0) throw tooLarge();
  }
}

/**
 * Evaluates a template. Throws `UpstreamError` if the result is too large or too deep. One value
 * may stand in many places, so the result is measured as JSON.
 */
export function evaluate(
  template: Template,
  at: unknown,
  names: Readonly<Record<string, unknown>>,
): unknown {
  const value = template({ at, names, index: undefined, budget: new Budget() });
  measure(value, new Budget(), 0);
  return value;
}

function measure(value: unknown, budget: Budget, depth: number): void {
  if (depth > MAX_DEPTH) throw tooLarge();
  if (typeof value === 'string') budget.take(1, value.length);
  else if (Array.isArray(value)) {
    budget.take(1);
    for (const item of value as unknown[]) measure(item, budget, depth + 1);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      budget.take(1, key.length);
      measure(item, budget, depth + 1);
    }
  } else budget.take(1);
}

function tooLarge(): UpstreamError {
  return new UpstreamError('broken', 'The answer of the upstream is too large to be read.');
}
