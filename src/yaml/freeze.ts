/**
 * Freezes data deeply: lists, plain objects, and the values of maps. Functions and the adapters'
 * own classes stay as they are.
 */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) for (const inner of value.values()) freeze(inner);
  else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) {
    Object.freeze(value);
    Object.values(value).forEach((inner) => freeze(inner));
  }
  return value;
}
