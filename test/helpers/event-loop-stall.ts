/** What an act gives, and the longest time for which this process did nothing else meanwhile. */
export async function stalled<T>(act: () => Promise<T>): Promise<[most_ms: number, result: T]> {
  let [most_ms, last] = [0, performance.now()];
  const note = () => {
    const now = performance.now();
    most_ms = Math.max(most_ms, now - last);
    last = now;
  };
  const timer = setInterval(note, 1);
  try {
    const result = await act();
    note();
    return [most_ms, result];
  } finally {
    clearInterval(timer);
  }
}
