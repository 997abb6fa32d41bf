/** A value that is fetched once and kept for a while. */
export interface Remembered<T> {
  get(): Promise<T>;
  forget(): void;
}

/** Concurrent calls share one fetch. A failure is not kept. */
export function remembered<T>(
  find: () => Promise<T>,
  fresh_ms: number,
  now: () => number,
): Remembered<T> {
  let answer: Promise<T> | undefined;
  let found_ms = 0;
  const forget = (): void => {
    answer = undefined;
  };
  return {
    forget,
    get: () => {
      if (answer && now() - found_ms < fresh_ms) return answer;
      found_ms = now();
      const asked = find();
      asked.catch(() => {
        if (answer === asked) forget();
      });
      answer = asked;
      return asked;
    },
  };
}
