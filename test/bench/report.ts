import Table from 'cli-table3';
import { cpuRatio, rateRatio, type Line } from './summary.js';
import { NODE_PIPE, NODE_PROXY } from './systems.js';
import type { Account } from './tollgate.js';
import { title, type Turn } from './turns.js';

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
/** A turn whose p99 alone is a goal. */
const LARGE_BYTES = 800 * 1_024;

export const LEGEND =
  'Medians of the turns. CPU: of a call or an event, and of a KB of a turn. ' +
  "speed × and CPU ×: Tollgate's over those of the line.";

export function lineTable(lines: readonly Line[], turns: readonly Turn[], own: string): string {
  const head = ['work', 'system', 'a second', 'p50 ms', 'p99 ms', 'CPU µs', 'a KB', 'core'];
  return table(
    [...head, 'RSS MB', 'speed ×', 'CPU ×'],
    lines.map((line) => [
      title(line),
      line.system + (line.bad > 0 ? ` (${line.bad} bad)` : ''),
      Math.round(line.per_second).toLocaleString('en'),
      shown(line.p50_ms),
      shown(line.p99_ms),
      shown(line.cpu_us, 1),
      shown(line.cpu_us_per_kb, 1),
      line.busy === undefined ? '-' : `${Math.round(line.busy * 100)} %`,
      shown(megabytes(line.rss_bytes), 0),
      line.system === own ? '' : shown(rateRatio(turns, line, own, line.system)),
      line.system === own ? '' : shown(cpuRatio(turns, line, own, line.system)),
    ]),
  );
}

/** What each line of this gateway and its memory are to reach, where this run measured it. */
export function goals(
  lines: readonly Line[],
  turns: readonly Turn[],
  memory: readonly number[],
  own: string,
): Goal[] {
  const all = [
    ...lines.filter(({ system }) => system === own).map((line) => goalOf(line, turns)),
    atMost('RSS in MB at the end', megabytes(memory.at(-1)), 220),
    atMost('lowest RSS of the second half against the first', growth(memory), FLAT),
  ];
  return all.filter((goal) => goal?.value !== undefined).filter((goal) => goal !== undefined);
}

function goalOf(line: Line, turns: readonly Turn[]): Goal | undefined {
  const { system, kind, connections, turn_bytes, rate } = line;
  const name = title(line);
  if (turn_bytes !== undefined) return goalOfTurn(line, turn_bytes);
  if (kind === 'long' || kind === 'stream') {
    const ratio = cpuRatio(turns, line, system, NODE_PIPE);
    const bound = kind === 'long' ? 1.3 : 1.4;
    return atMost(`${name}: CPU per event against ${NODE_PIPE}`, ratio, bound);
  }
  if (kind !== 'json') return undefined;
  if (rate !== undefined) return atMost(`${name}: p50 in ms`, line.p50_ms, 1.5);
  if (connections === 1) return atMost(`${name}: CPU in µs`, line.cpu_us, 500);
  const ratio = rateRatio(turns, line, system, NODE_PROXY);
  return atLeast(`${name}: speed against ${NODE_PROXY}`, ratio, 0.85);
}

function goalOfTurn(line: Line, turn_bytes: number): Goal | undefined {
  const { kind, connections, format, upstream_format } = line;
  if (kind !== 'json') return undefined;
  const name = title(line);
  if (connections > 1) {
    const bound = format === upstream_format ? 10 : 14;
    return atMost(`${name}: CPU in µs per KB`, line.cpu_us_per_kb, bound);
  }
  return turn_bytes < LARGE_BYTES ? undefined : atMost(`${name}: p99 in ms`, line.p99_ms, 20);
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
export function accounts(account: Account): string {
  const { name, charges, answers, open_holds, faults } = account;
  const verdict = charges === answers ? 'one charge for each answer' : 'NOT THE SAME';
  const counts = `${charges.toLocaleString('en')} charges, ${answers.toLocaleString('en')} answers`;
  const rest = [`${open_holds} open holds`, `${faults.length} faults`, ...faults];
  return `Ledger of ${name}: ${counts}: ${verdict}; verify: ${rest.join(', ')}`;
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

function megabytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / MEGABYTE;
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
