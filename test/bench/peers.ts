import { system_core } from './child.js';
import type { Loader } from './loader.js';
import { coresOf, familyOf } from './proc.js';
import type { System } from './system.js';
import { title } from './turns.js';
import { KINDS, type Work } from './wording.js';

/** A gateway that somebody else has started, with the bench's upstream behind it. */
export interface Peer {
  name: string;
  base: URL;
  headers: Record<string, string>;
  /** Its first process; unknown, it is measured from outside alone. */
  pid: number | undefined;
}

export function peerSystem({ name, base, headers, pid }: Peer): System {
  const pids = pid === undefined ? [] : familyOf(pid);
  return { name, kinds: KINDS, base, headers, pids, stop: () => Promise.resolve() };
}

/** A peer with more cores than the others have is compared with them by its CPU time alone. */
export function coreWarnings({ name, pids }: System): string[] {
  if (system_core === undefined) return [];
  const cores = new Set(pids.flatMap(coresOf));
  if (cores.size === 0 || (cores.size === 1 && cores.has(system_core))) return [];
  const here = [...cores].join(', ');
  return [`${name} may use core ${here}; start it with: taskset -c ${system_core}`];
}

/** Throws where one does not answer each kind of call: a run takes minutes, a slip a second. */
export async function tryOnce(
  systems: readonly System[],
  loader: Loader,
  works: readonly Work[],
): Promise<void> {
  for (const system of systems) {
    for (const work of works) {
      const once = { ...work, connections: 1, rate: undefined };
      const outcome = await loader.run(system, once, {
        warm_ms: 0,
        measure_ms: ANSWER_MS,
        requests: 1,
      });
      if (outcome.answers > 0) continue;
      const reason = outcome.complaint || `no answer within ${ANSWER_MS / 1_000} s`;
      throw new Error(`${system.name} does not serve "${title(once)}": ${reason}`);
    }
  }
}

const ANSWER_MS = 60_000;
