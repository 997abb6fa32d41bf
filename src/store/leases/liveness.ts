import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Identifies the boot and the PID namespace of this machine, within which PIDs are unique. */
export const MACHINE = machine();

/** The start time of this process, as `startOf` gives it. */
export const STARTED = startOf(process.pid);

/**
 * False only for a process of this machine that has certainly ended. The start time reveals a
 * process ID that another process reuses.
 */
export function isAlive(pid: number, started: string): boolean {
  if (!exists(pid)) return false;
  const now = startOf(pid);
  return started === '' || now === '' || now === started;
}

/** The start time of a process in ticks of the kernel since boot; empty if unknown. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may have spaces and parentheses: count the fields after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
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
