import { Buffer } from 'node:buffer';
import type { Loader } from './loader.js';
import type { Options } from './options.js';
import { rssOf } from './proc.js';
import type { Outcome } from './run.js';
import { requestBody } from './request-bodies.js';
import type { System } from './system.js';
import { isSparse, type Work } from './wording.js';

/** One system's turn at one work. */
export interface Turn extends Work {
  /** Those of one work and one number lie next to each other, and are compared. */
  number: number;
  system: string;
  outcome: Outcome;
  /** Of a call. */
  body_bytes: number;
  rss_bytes: number | undefined;
}

/** Turns of different processes are never compared, so their numbers lie this far apart. */
export const TURNS_APART = 1_000_000;

const WARM_MS = 500;
/**
 * Before the first turn of a system its code gets compiled: cold, it costs several times more, and
 * large turns are so few that it takes them a minute. So each shape of work runs in slices until
 * some of them have brought no better rate.
 */
const COLD_MS = 2_000;
const BETTER = 1.05;
const STEADY_SLICES = 3;
const MOST_SLICES = 20;
/**
 * A machine that is shared gets faster and slower within seconds. What keeps a system busy is
 * therefore measured in short turns, which lie next to those that they are compared with.
 */
const SLICES = 3;
/** Sparse streams warm what only they run, and slowly: there are few of them. */
const COLD_SPARSE_MS = 8_000;

/** Gives every system its turn at every work, there and back: A B C, C B A. */
export async function takeTurns(
  systems: readonly System[],
  loader: Loader,
  { rounds, works, seconds }: Options,
  progress: (text: string) => void,
): Promise<Turn[]> {
  for (const system of systems) {
    progress(`warming up: ${system.name}`);
    for (const work of busiest(works.map(warming), system).flatMap(manyAndAlone)) {
      await warmUp(system, work, loader);
    }
    for (const work of busiest(works, system).filter(({ kind }) => isSparse(kind))) {
      await loader.run(system, work, { warm_ms: COLD_SPARSE_MS, measure_ms: 0 });
    }
  }
  const turns: Turn[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const { work, number } of works.flatMap((one) => slicesOf(one, round))) {
      const limits = { warm_ms: WARM_MS, measure_ms: (seconds * 1_000) / sliceCount(work) };
      for (const system of inOrder(systems, work, number)) {
        progress(`turn ${number} of ${rounds * sliceCount(work)}: ${title(work)}, ${system.name}`);
        const outcome = await loader.run(system, work, limits);
        const rss_bytes = rssOf(system.pids);
        const body_bytes = Buffer.byteLength(requestBody(work));
        turns.push({ ...work, number, system: system.name, outcome, body_bytes, rss_bytes });
      }
    }
  }
  return turns;
}

async function warmUp(system: System, work: Work, loader: Loader): Promise<void> {
  let best = 0;
  let steady = 0;
  for (let slice = 0; slice < MOST_SLICES && steady < STEADY_SLICES; slice += 1) {
    const { measured } = await loader.run(system, work, { warm_ms: 0, measure_ms: COLD_MS });
    const rate = measured.answers / measured.seconds;
    steady = rate > best * BETTER ? 0 : steady + 1;
    best = Math.max(best, rate);
  }
}

/** A paced call is not in a hurry, and a turn alone gives few answers in a short time. */
function sliceCount({ kind, rate, turn_bytes, connections }: Work): number {
  const is_rare = turn_bytes !== undefined && connections === 1;
  return isSparse(kind) || is_rare || rate !== undefined ? 1 : SLICES;
}

/** The turns at a work in a round, numbered over all rounds from 1. */
function slicesOf(work: Work, round: number): { work: Work; number: number }[] {
  const length = sliceCount(work);
  return Array.from({ length }, (_, at) => ({ work, number: round * length + at + 1 }));
}

/** Those that do such work: there, or back. */
function inOrder(systems: readonly System[], { kind }: Work, number: number): System[] {
  const some = systems.filter(({ kinds }) => kinds.includes(kind));
  return number % 2 === 0 ? some.toReversed() : some;
}

/** Of works that differ in nothing else, the one with the most connections. */
function busiest(works: readonly Work[], { kinds }: System): Work[] {
  const found = new Map<string, Work>();
  for (const work of works) {
    const shape = title({ ...work, connections: 0 });
    const most = found.get(shape)?.connections ?? 0;
    if (kinds.includes(work.kind) && work.connections >= most) found.set(shape, work);
  }
  return [...found.values()];
}

/** What the code of a work is warmed by: sparse streams keep no system busy, but bursts do. */
export function warming(work: Work): Work {
  return { ...work, kind: isSparse(work.kind) ? 'burst' : work.kind, rate: undefined };
}

/** A call that comes alone takes other ways than many that come at once. */
function manyAndAlone(work: Work): Work[] {
  return work.connections > 1 ? [work, { ...work, connections: 1 }] : [work];
}

export function title({
  kind,
  connections,
  format,
  upstream_format,
  turn_bytes,
  rate,
}: Work): string {
  const words = [
    kind,
    turn_bytes !== undefined && `${Math.round(turn_bytes / 1_024)}k`,
    format !== 'chat' && format,
    upstream_format !== format && `to ${upstream_format}`,
    `at ${connections}${rate === undefined ? '' : `, ${rate} a second`}`,
  ];
  return words.filter((word) => word !== false).join(' ');
}
