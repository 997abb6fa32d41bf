/**
 * What an act gives, and the longest time for which this process did nothing else meanwhile. Time
 * that costs it nothing is not its own: other processes had the processor.
 */
export async function stalled<T>(act: () => Promise<T>): Promise<[most_ms: number, result: T]> {
  let [most_ms, last_ms, last_cpu] = [0, performance.now(), process.cpuUsage()];
  const note = () => {
    const now_ms = performance.now();
    const { user, system } = process.cpuUsage(last_cpu);
    most_ms = Math.max(most_ms, Math.min(now_ms - last_ms, (user + system) / 1_000));
    [last_ms, last_cpu] = [now_ms, process.cpuUsage()];
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
