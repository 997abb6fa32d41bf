import type { Loader } from './loader.js';
import { rssOf } from './proc.js';
import type { System } from './system.js';
import type { Work } from './wording.js';

/** The one thing that is asked while memory is watched. */
export const MEMORY_WORK: Work = {
  kind: 'json',
  connections: 64,
  format: 'chat',
  upstream_format: 'chat',
  turn_bytes: undefined,
  rate: undefined,
};
const STEPS = 20;
const LIMIT_MS = 300_000;

/**
 * Resident memory in bytes after each step of the requests. As many again come first, so that the
 * heap has found its size.
 */
export async function watchMemory(
  system: System,
  loader: Loader,
  all_requests: number,
  progress: (text: string) => void,
): Promise<number[]> {
  const limits = { warm_ms: 0, measure_ms: LIMIT_MS };
  progress(`memory: warming up, ${system.name}`);
  await loader.run(system, MEMORY_WORK, { ...limits, requests: all_requests });
  const series: number[] = [];
  const requests = all_requests / STEPS;
  for (let step = 1; step <= STEPS; step++) {
    progress(`memory: ${step * requests} of ${all_requests} requests, ${system.name}`);
    await loader.run(system, MEMORY_WORK, { ...limits, requests });
    const rss_bytes = rssOf(system.pids);
    if (rss_bytes !== undefined) series.push(rss_bytes);
  }
  return series;
}
