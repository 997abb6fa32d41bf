import { title, type Turn } from './turns.js';
import type { Work } from './wording.js';

/** What the turns of one system at one work came to. CPU is in microseconds. */
export interface Line extends Work {
  system: string;
  /** Answers per second; events in streams. */
  per_second: number;
  p50_ms: number;
  p99_ms: number;
  /** Per answer; per event in streams. */
  cpu_us: number | undefined;
  /** Per KB of a turn, in whole answers. */
  cpu_us_per_kb: number | undefined;
  /** Of its own core: well below 1, the tools or the work were the limit. */
  busy: number | undefined;
  rss_bytes: number | undefined;
  bad: number;
  complaint: string;
}

export function summarise(turns: readonly Turn[]): Line[] {
  return groups(turns).map(lineOf);
}

function groups(turns: readonly Turn[]): Turn[][] {
  const groups = new Map<string, Turn[]>();
  for (const turn of turns) {
    const key = `${title(turn)} ${turn.system}`;
    groups.set(key, [...(groups.get(key) ?? []), turn]);
  }
  return [...groups.values()];
}

function lineOf(turns: readonly Turn[]): Line {
  const [first] = turns;
  if (first === undefined) throw new Error('A line has turns.');
  const { kind, connections, format, upstream_format, turn_bytes, rate } = first;
  const cpu_us = median(turns.map(cpuOf));
  const measured = turns.map(({ outcome }) => outcome.measured);
  return {
    kind,
    connections,
    format,
    upstream_format,
    turn_bytes,
    rate,
    system: first.system,
    per_second: median(turns.map(rateOf)) ?? 0,
    p50_ms: median(measured.map(({ p50_ms }) => p50_ms)) ?? 0,
    p99_ms: median(measured.map(({ p99_ms }) => p99_ms)) ?? 0,
    cpu_us,
    cpu_us_per_kb:
      turn_bytes !== undefined && kind === 'json'
        ? quotient(cpu_us, first.body_bytes / 1_024)
        : undefined,
    busy: median(measured.map(({ cpu_ms, seconds }) => cpu_ms && cpu_ms / seconds / 1_000)),
    rss_bytes: median(turns.map(({ rss_bytes }) => rss_bytes)),
    bad: turns.reduce((sum, { outcome }) => sum + outcome.bad, 0),
    complaint: turns.map(({ outcome }) => outcome.complaint).find(Boolean) ?? '',
  };
}

/** The rate of one system over that of another: of each two turns next to each other, then the median. */
export function rateRatio(turns: readonly Turn[], work: Work, of: string, to: string) {
  return ratio(turns, work, of, to, rateOf);
}

/** The same for the CPU time of a call or an event. */
export function cpuRatio(turns: readonly Turn[], work: Work, of: string, to: string) {
  return ratio(turns, work, of, to, cpuOf);
}

function ratio(
  turns: readonly Turn[],
  work: Work,
  of: string,
  to: string,
  value: (turn: Turn) => number | undefined,
): number | undefined {
  const here = turns.filter((turn) => title(turn) === title(work));
  const ratios = here
    .filter(({ system }) => system === of)
    .map((turn) => {
      const other = here.find(({ system, number }) => system === to && number === turn.number);
      return quotient(value(turn), other && value(other));
    });
  return median(ratios);
}

function quotient(above: number | undefined, below: number | undefined): number | undefined {
  return above === undefined || !below ? undefined : above / below;
}

function rateOf(turn: Turn): number {
  return unitsOf(turn) / turn.outcome.measured.seconds;
}

function cpuOf(turn: Turn): number | undefined {
  const { cpu_ms } = turn.outcome.measured;
  return cpu_ms === undefined ? undefined : quotient(cpu_ms * 1_000, unitsOf(turn));
}

function unitsOf({ kind, outcome: { measured } }: Turn): number {
  return kind === 'json' ? measured.answers : measured.events;
}

function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  const middle = Math.floor(known.length / 2);
  const upper = known[middle];
  if (upper === undefined || known.length % 2 === 1) return upper;
  return (upper + (known[middle - 1] ?? upper)) / 2;
}
