import { readFileSync } from 'node:fs';

/** The kernel counts CPU time in ticks of this length, whatever its own clock (USER_HZ is 100). */
const TICK_MS = 10;

function read(file: string): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** User and system time of these processes in ms; undefined where there are none, or no `/proc`. */
export function cpuOf(pids: readonly number[]): number | undefined {
  if (pids.length === 0) return undefined;
  let ticks = 0;
  for (const pid of pids) {
    // The command's name may hold anything, so count the fields after its closing bracket.
    const fields = read(`${pid}/stat`)?.split(') ').at(-1)?.split(' ');
    if (!fields) return undefined;
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MS;
}

/** Resident memory in bytes of these processes together. */
export function rssOf(pids: readonly number[]): number | undefined {
  const sizes = pids.map((pid) => /^VmRSS:\s+(\d+) kB/m.exec(read(`${pid}/status`) ?? '')?.[1]);
  const known = sizes.filter((size) => size !== undefined).map(Number);
  return known.length === 0 ? undefined : known.reduce((sum, size) => sum + size) * 1_024;
}

/** A process and all below it, such as its workers. */
export function familyOf(pid: number): number[] {
  const children = read(`${pid}/task/${pid}/children`)?.split(' ').filter(Boolean) ?? [];
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
}

/** The cores that a process may use, from `0-2,4`. */
export function coresOf(pid: number | 'self'): number[] {
  const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(read(`${pid}/status`) ?? '')?.[1] ?? '';
  return list
    .split(',')
    .filter(Boolean)
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}
