/** Caches the result of a function for each object, for as long as the object lives. */
export function memoizeByObject<Key extends object, Result>(
  compute: (key: Key) => Result,
): (key: Key) => Result {
  const cache = new WeakMap<Key, { result: Result }>();
  return (key) => {
    const known = cache.get(key);
    if (known) return known.result;
    const result = compute(key);
    cache.set(key, { result });
    return result;
  };
}
