import type { Loader } from './loader.js';
import type { Options } from './options.js';
import { rssOf } from './proc.js';
import type { Outcome } from './run.js';
import type { System } from './system.js';
import type { Kind, Work } from './wording.js';

/** One system's turn at one work. */
export interface Turn extends Work {
  round: number;
  system: string;
  outcome: Outcome;
  rss_bytes: number | undefined;
}

const WARM_MS = 500;
/** The first turn of a system compiles its code, and must not be measured cold. */
const FIRST_WARM_MS = 2_000;

/** Gives every system its turn at every work, round by round: A B C, A B C. */
export async function takeTurns(
  systems: readonly System[],
  loader: Loader,
  { rounds, works, seconds }: Options,
  progress: (text: string) => void,
): Promise<Turn[]> {
  const turns: Turn[] = [];
  const warm = new Set<string>();
  for (let round = 1; round <= rounds; round++) {
    for (const work of works) {
      for (const system of systems.filter(({ kinds }) => kinds.includes(work.kind))) {
        progress(`round ${round} of ${rounds}: ${title(work)}, ${system.name}`);
        const warm_ms = warm.has(key(system, work.kind)) ? WARM_MS : FIRST_WARM_MS;
        warm.add(key(system, work.kind));
        const outcome = await loader.run(system, work, { warm_ms, measure_ms: seconds * 1_000 });
        turns.push({ ...work, round, system: system.name, outcome, rss_bytes: rssOf(system.pids) });
      }
    }
  }
  return turns;
}

function key({ name }: System, kind: Kind): string {
  return `${name} ${kind}`;
}

export function title({ kind, connections }: Work): string {
  return `${kind} at ${connections}`;
}
