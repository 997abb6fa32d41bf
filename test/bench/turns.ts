import type { Loader } from './loader.js';
import type { Options } from './options.js';
import { rssOf } from './proc.js';
import type { Outcome } from './run.js';
import type { System } from './system.js';
import { isSparse, type Kind, type Work } from './wording.js';

/** One system's turn at one work. */
export interface Turn extends Work {
  round: number;
  system: string;
  outcome: Outcome;
  rss_bytes: number | undefined;
}

const WARM_MS = 500;
/** Before the first turn of a system its code gets compiled: cold, it costs several times more. */
const COLD_MS = 4_000;
/** Sparse streams warm what only they run, and slowly: there are few of them. */
const COLD_SPARSE_MS = 8_000;

/** Gives every system its turn at every work, round by round: A B C, A B C. */
export async function takeTurns(
  systems: readonly System[],
  loader: Loader,
  { rounds, works, seconds }: Options,
  progress: (text: string) => void,
): Promise<Turn[]> {
  for (const system of systems) {
    progress(`warming up: ${system.name}`);
    for (const work of busiest(works.map(warming), system)) {
      await loader.run(system, work, { warm_ms: COLD_MS, measure_ms: 0 });
    }
    for (const work of busiest(works, system).filter(({ kind }) => isSparse(kind))) {
      await loader.run(system, work, { warm_ms: COLD_SPARSE_MS, measure_ms: 0 });
    }
  }
  const turns: Turn[] = [];
  const limits = { warm_ms: WARM_MS, measure_ms: seconds * 1_000 };
  for (let round = 1; round <= rounds; round++) {
    for (const work of works) {
      for (const system of systems.filter(({ kinds }) => kinds.includes(work.kind))) {
        progress(`round ${round} of ${rounds}: ${title(work)}, ${system.name}`);
        const outcome = await loader.run(system, work, limits);
        turns.push({ ...work, round, system: system.name, outcome, rss_bytes: rssOf(system.pids) });
      }
    }
  }
  return turns;
}

/** One work of each kind, the one that keeps a system busiest. */
function busiest(works: readonly Work[], { kinds }: System): Work[] {
  const found = new Map<Kind, Work>();
  for (const work of works) {
    const most = found.get(work.kind)?.connections ?? 0;
    if (kinds.includes(work.kind) && work.connections >= most) found.set(work.kind, work);
  }
  return [...found.values()];
}

/** What the code of a work is warmed by: sparse streams keep no system busy, but bursts do. */
export function warming({ kind, connections }: Work): Work {
  return { kind: isSparse(kind) ? 'burst' : kind, connections };
}

export function title({ kind, connections }: Work): string {
  return `${kind} at ${connections}`;
}
