import type { BoxReport, TakenUp } from '../schema-types/box-report.js';
import type { LiveProcess } from '../store/leases/leases.js';

/** The parts in which all boxes on a store should be equal, in the order in which they are told. */
export const EQUAL_PARTS = ['version', 'configuration', 'prices'] as const;

export type EqualPart = (typeof EQUAL_PARTS)[number];

export type DifferingPart = EqualPart | 'clock';

export const DIFFERING_PARTS: readonly DifferingPart[] = [...EQUAL_PARTS, 'clock'];

/** The processes of a box that say the same of themselves. */
export interface Box {
  /** Null where its version says nothing of itself that this one understands. */
  host: string | null;
  listen: string | null;
  /** `silent`: no heartbeat has come for three of them. */
  health: BoxReport['health'] | 'silent' | null;
  version: string | null;
  configuration: string | null;
  prices: string | null;
  clock_offset_ms: number | null;
  pids: number[];
  /** Of its first process. */
  started_ms: number;
  /** The last heartbeat of the process that was silent for longest. */
  seen_ms: number;
  /** The parts in which it is not as most processes are, or in which none are most. */
  differs_in: DifferingPart[];
}

/** A part in which boxes differ, and the names of those that have each value. */
export interface Difference {
  part: DifferingPart;
  values: { value: string; hosts: string[] }[];
}

export interface Boxes {
  /** How many there are: where the workers of one differ, it is in the list more than once. */
  count: number;
  boxes: Box[];
  /** Those that have lasted: during a reload or a rolling upgrade boxes differ for a while. */
  differences: Difference[];
}

/** How often a process writes its heartbeat. */
export const HEARTBEAT_MS = 10_000;
/** So long a difference is normal: six heartbeats. */
const NORMAL_MS = 6 * HEARTBEAT_MS;
const SILENT_MS = 3 * HEARTBEAT_MS;
/** Clocks that differ by less are taken for equal. */
const CLOCKS_MS = 1_500;

interface Known {
  process: LiveProcess;
  report: BoxReport | undefined;
}

/** The boxes on a store, by the names of their hosts, and in which parts they differ. */
export function boxesOf(processes: readonly LiveProcess[]): Boxes {
  const known = processes.map((process) => ({ process, report: reportIn(process) }));
  // A process that stops takes no new calls.
  const serving = known.filter(({ report }) => report?.health !== 'draining');
  const differences = [
    ...EQUAL_PARTS.flatMap((part) => differenceIn(serving, part)),
    ...clockDifference(serving),
  ];
  const groups = new Map<string, Known[]>();
  for (const one of known) groups.set(boxKey(one), [...(groups.get(boxKey(one)) ?? []), one]);
  const boxes = [...groups.values()].map((group) => boxOf(group, serving, differences));
  return { count: new Set(known.map(mainOf)).size, boxes: boxes.sort(byName), differences };
}

/** A sentence for people, such as `prices: 1f… on web1, 2e… on web2 and web3`. */
export function differenceText({ part, values }: Difference): string {
  const each = values.map(({ value, hosts }) => `${value} on ${hosts.join(' and ')}`);
  return `${part}: ${each.join(', ')}`;
}

function reportIn({ box }: LiveProcess): BoxReport | undefined {
  return box === null || box === 'unknown' ? undefined : box;
}

function mainOf({ process: { machine, pid }, report }: Known): string {
  return JSON.stringify([machine, report?.main_pid ?? pid]);
}

/** Workers of one box that differ, as after a reload that one of them refused, are kept apart. */
function boxKey(known: Known): string {
  const equal = EQUAL_PARTS.map((part) => known.report?.equal[part].value);
  return JSON.stringify([mainOf(known), known.report?.listen, ...equal]);
}

function boxOf(
  group: readonly Known[],
  serving: readonly Known[],
  differences: readonly Difference[],
): Box {
  const report = group[0]?.report;
  const seen = group.map(({ process }) => process.seen_ms);
  const offsets = group.flatMap(({ report: one }) => (one ? [one.clock_offset_ms] : []));
  return {
    host: report?.host ?? null,
    listen: report?.listen ?? null,
    health: healthOf(group),
    version: report?.equal.version.value ?? null,
    configuration: report?.equal.configuration.value ?? null,
    prices: report?.equal.prices.value ?? null,
    clock_offset_ms: furthestOf(offsets) ?? null,
    pids: group.map(({ process }) => process.pid).sort((one, other) => one - other),
    started_ms: Math.min(...group.map(({ process }) => process.started_ms)),
    seen_ms: Math.min(...seen),
    differs_in: differences.flatMap(({ part }) => (isOdd(group, serving, part) ? [part] : [])),
  };
}

/** That of the process which does worst. */
function healthOf(group: readonly Known[]): Box['health'] {
  if (group.some(({ process: { now_ms, seen_ms } }) => now_ms - seen_ms > SILENT_MS)) {
    return 'silent';
  }
  const all = group.map(({ report }) => report?.health ?? null);
  const worst = (['waiting', 'draining'] as const).find((one) => all.includes(one));
  return worst ?? all[0] ?? null;
}

function isOdd(group: readonly Known[], serving: readonly Known[], part: DifferingPart): boolean {
  if (!group.some((one) => serving.includes(one))) return false;
  if (part === 'clock') {
    const sorted = offsetsOf(serving);
    const [low_ms = 0, high_ms = 0] = [
      sorted[Math.floor((sorted.length - 1) / 2)],
      sorted[Math.floor(sorted.length / 2)],
    ];
    const isOff = (ms: number): boolean => Math.abs(2 * ms - low_ms - high_ms) > CLOCKS_MS;
    return offsetsOf(group).some(isOff);
  }
  const values = serving.map((one) => takenUp(one, part)?.value);
  const [own] = group.map((one) => takenUp(one, part)?.value);
  return own !== undefined && 2 * values.filter((value) => value === own).length <= values.length;
}

function differenceIn(serving: readonly Known[], part: EqualPart): Difference[] {
  const first = new Map<string, number>();
  const hosts = new Map<string, Set<string>>();
  let now_ms = 0;
  for (const known of serving) {
    now_ms = known.process.now_ms;
    const taken = takenUp(known, part);
    if (!taken) continue;
    const { value, since_ms } = taken;
    first.set(value, Math.min(first.get(value) ?? since_ms, since_ms));
    hosts.set(value, (hosts.get(value) ?? new Set()).add(nameOfProcess(known.process)));
  }
  // They differ since the second value came.
  const [, since_ms] = [...first.values()].sort((one, other) => one - other);
  if (since_ms === undefined || now_ms - since_ms <= NORMAL_MS) return [];
  const values = [...hosts].map(([value, names]) => ({ value, hosts: [...names].sort() }));
  return [{ part, values: values.sort((one, other) => (one.value < other.value ? -1 : 1)) }];
}

/** No clock is set in a reload, so that this is told at once. */
function clockDifference(serving: readonly Known[]): Difference[] {
  const sorted = offsetsOf(serving);
  const spread_ms = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  if (spread_ms <= CLOCKS_MS) return [];
  const furthest = new Map<string, number[]>();
  for (const known of serving) {
    const host = nameOfProcess(known.process);
    furthest.set(host, [...(furthest.get(host) ?? []), ...offsetsOf([known])]);
  }
  const values = [...furthest].flatMap(([host, all]) => {
    const ms = furthestOf(all);
    return ms === undefined ? [] : [{ value: offsetText(ms), hosts: [host] }];
  });
  return [{ part: 'clock', values }];
}

/** Such as `+2.4 s`, ahead of the database's clock. */
export function offsetText(offset_ms: number): string {
  const seconds = (Math.abs(offset_ms) / 1_000).toFixed(1);
  return `${offset_ms < 0 && seconds !== '0.0' ? '-' : '+'}${seconds} s`;
}

function offsetsOf(all: readonly Known[]): number[] {
  const offsets = all.flatMap(({ report }) => (report ? [report.clock_offset_ms] : []));
  return offsets.sort((one, other) => one - other);
}

function furthestOf(offsets: readonly number[]): number | undefined {
  return offsets.toSorted((one, other) => Math.abs(other) - Math.abs(one))[0];
}

/** A process of a version that says nothing known differs in that from those that do. */
function takenUp({ report, process }: Known, part: EqualPart): TakenUp | undefined {
  if (report) return report.equal[part];
  if (part !== 'version') return undefined;
  const value = process.box === null ? 'an older version' : 'an unknown version';
  return { value, since_ms: process.started_ms };
}

/** The name of its box, or its number where its version says nothing known. */
export function nameOfProcess(process: LiveProcess): string {
  const report = reportIn(process);
  return report ? boxName(report) : `process ${process.pid}`;
}

/** The name of a box: of its host, and where it listens, since a host may have several. */
export function boxName({ host, listen }: Pick<BoxReport, 'host' | 'listen'>): string {
  return `${host} (${listen})`;
}

function byName(one: Box, other: Box): number {
  const names = [one, other].map(({ host, listen }) => `${host ?? ''} ${listen ?? ''}`);
  return (names[0] ?? '') < (names[1] ?? '') ? -1 : 1;
}
