import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Identifies the boot and the PID namespace of this machine, within which PIDs are unique. */
export const MACHINE = machine();

/** The start time of this process, as `startOf` gives it. */
export const STARTED = startOf(process.pid);

/**
 * False only for a process of this machine that has certainly ended. The start time reveals a
 * process ID that another process reuses. One whose parent never asks for its exit status, as the
 * first process of a container may do, has ended too.
 */
export function isAlive(pid: number, started: string): boolean {
  if (!exists(pid)) return false;
  const { state, threads, start } = statOf(pid);
  if (state === 'Z' && threads === '1') return false;
  return started === '' || start === '' || start === started;
}

/** The start time of a process in ticks of the kernel since boot; empty if unknown. */
export function startOf(pid: number): string {
  return statOf(pid).start;
}

function statOf(pid: number): { state: string; threads: string; start: string } {
  let fields: string[] = [];
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may have spaces and parentheses: count the fields after it.
    fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // Not Linux, or it has ended meanwhile.
  }
  return { state: fields[0] ?? '', threads: fields[17] ?? '', start: fields[19] ?? '' };
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function machine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
