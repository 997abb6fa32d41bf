/** A value that is fetched once and kept for a while. */
export interface Cached<T> {
  get(): Promise<T>;
  forget(): void;
}

/** Concurrent calls share one fetch. A failed fetch is not kept: the next call fetches again. */
export function cached<T>(
  fetchValue: () => Promise<T>,
  fresh_ms: number,
  now: () => number,
): Cached<T> {
  let current: Promise<T> | undefined;
  let fetched_ms = 0;
  const forget = (): void => {
    current = undefined;
  };
  return {
    forget,
    get: () => {
      if (current && now() - fetched_ms < fresh_ms) return current;
      fetched_ms = now();
      const pending = fetchValue();
      pending.catch(() => {
        if (current === pending) forget();
      });
      current = pending;
      return pending;
    },
  };
}
