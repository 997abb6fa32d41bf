import Table from 'cli-table3';
import { PEER } from './portkey.js';
import { cpuRatio, rateRatio, type Line } from './summary.js';
import { NODE_PIPE, NODE_PROXY } from './systems.js';
import type { Verification } from './tollgate.js';
import { title, type Turn } from './turns.js';
import type { Kind, Work } from './wording.js';

/** One promised ratio: what came out and whether it was reached. */
export interface Goal {
  name: string;
  value: number | undefined;
  reach: string;
  reached: boolean | undefined;
}

/** The garbage collector's own swing stays below this; a leak does not. */
const FLAT = 1.1;
const MEGABYTE = 1_048_576;

export function lineTable(lines: readonly Line[]): string {
  const head = ['work', 'system', 'per second', 'p50 ms', 'p99 ms', 'CPU µs', 'core', 'RSS MB'];
  return table(
    head,
    lines.map((line) => [
      title(line),
      line.system + (line.bad > 0 ? ` (${line.bad} bad)` : ''),
      Math.round(line.rate).toLocaleString('en'),
      shown(line.p50_ms),
      shown(line.p99_ms),
      shown(line.cpu_us, 1),
      line.busy === undefined ? '-' : `${Math.round(line.busy * 100)} %`,
      shown(line.rss_bytes === undefined ? undefined : line.rss_bytes / MEGABYTE, 0),
    ]),
  );
}

/** This gateway against all others: speed (more is better) and CPU time (less is better). */
export function ratioTable(turns: readonly Turn[], own: string): string {
  const pairs = new Map<string, Turn>();
  for (const turn of turns) if (turn.system !== own) pairs.set(title(turn) + turn.system, turn);
  return table(
    ['work', 'against', 'speed ratio', 'CPU ratio'],
    [...pairs.values()].map((other) => [
      title(other),
      other.system,
      shown(rateRatio(turns, other, own, other.system)),
      shown(cpuRatio(turns, other, own, other.system)),
    ]),
  );
}

/** The ratio of each promise, where this run measured it. */
export function goals(turns: readonly Turn[], memory: readonly number[], own: string): Goal[] {
  const json: Work = { kind: 'json', connections: 64 };
  const perEvent = (kind: Kind) => {
    const work: Work = { kind, connections: 64 };
    const name = `${title(work)}: CPU per event against ${NODE_PIPE}`;
    return atMost(name, cpuRatio(turns, work, own, NODE_PIPE), 1.3);
  };
  const speed = (to: string) => rateRatio(turns, json, own, to);
  const all = [
    atLeast(`${title(json)}: speed against ${NODE_PROXY}`, speed(NODE_PROXY), 0.85),
    atLeast(`${title(json)}: speed against ${PEER}`, speed(PEER), 8),
    perEvent('long'),
    perEvent('stream'),
    atMost('lowest RSS of the second half against the first', growth(memory), FLAT),
  ];
  return all.filter(({ value }) => value !== undefined);
}

function atLeast(name: string, value: number | undefined, bound: number): Goal {
  return {
    name,
    value,
    reach: `at least ${bound}`,
    reached: value === undefined ? undefined : value >= bound,
  };
}

function atMost(name: string, value: number | undefined, bound: number): Goal {
  const reached = value === undefined ? undefined : value <= bound;
  return { name, value, reach: `at most ${bound}`, reached };
}

export function goalTable(all: readonly Goal[]): string {
  return table(
    ['goal', 'measured', 'to reach', ''],
    all.map(({ name, value, reach, reached }) => [
      name,
      shown(value),
      reach,
      reached ? 'reached' : 'missed',
    ]),
  );
}

export function memoryLine(series: readonly number[], requests: number): string {
  const sizes = series.map((bytes) => (bytes / MEGABYTE).toFixed(0)).join(', ');
  return `RSS in MB while ${requests.toLocaleString('en')} requests passed: ${sizes}`;
}

/** Whether the accounting that was measured was really done. */
export function accounts(account: Verification & { answers: number }): string {
  const { charges, answers, open_holds, faults } = account;
  const verdict = charges === answers ? 'one charge for each answer' : 'NOT THE SAME';
  const counts = `${charges.toLocaleString('en')} charges, ${answers.toLocaleString('en')} answers`;
  const rest = [`${open_holds} open holds`, `${faults.length} faults`, ...faults];
  return `Ledger: ${counts}: ${verdict}; verify: ${rest.join(', ')}`;
}

/**
 * The smallest size of the second half over that of the first. The collector lets memory rise by a
 * quarter and fall again, whatever is kept; what leaks lifts the lowest points as well.
 */
function growth(series: readonly number[]): number | undefined {
  const half = Math.floor(series.length / 2);
  if (half === 0) return undefined;
  return Math.min(...series.slice(half)) / Math.min(...series.slice(0, half));
}

function table(head: string[], rows: string[][]): string {
  const style = { head: [], border: [], compact: true };
  const made = new Table({ head, style });
  made.push(...rows);
  return made.toString();
}

function shown(value: number | undefined, digits = 2): string {
  return value === undefined ? '-' : value.toFixed(digits);
}
