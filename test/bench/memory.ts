import type { Loader } from './loader.js';
import { rssOf } from './proc.js';
import type { System } from './system.js';
import type { Work } from './wording.js';

/** The one thing that is asked while memory is watched. */
export const MEMORY_WORK: Work = { kind: 'json', connections: 64 };
const STEPS = 5;
const LIMIT_MS = 300_000;

/**
 * Resident memory in bytes after a fifth of the requests to warm up, and then after every further
 * fifth of them.
 */
export async function watchMemory(
  system: System,
  loader: Loader,
  all_requests: number,
  progress: (text: string) => void,
): Promise<number[]> {
  const series: number[] = [];
  const requests = all_requests / STEPS;
  for (let step = 0; step <= STEPS; step++) {
    progress(`memory: ${step * requests} of ${all_requests} requests, ${system.name}`);
    await loader.run(system, MEMORY_WORK, { warm_ms: 0, measure_ms: LIMIT_MS, requests });
    const rss_bytes = rssOf(system.pids);
    if (rss_bytes !== undefined) series.push(rss_bytes);
  }
  return series;
}
