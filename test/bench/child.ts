import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coresOf } from './proc.js';

/** What runs where: the measured system has a core to itself, where there are two. */
export type Side = 'system' | 'tools' | 'both';

const STOP_MS = 10_000;
const children = new Set<ChildProcess>();
const folders = new Set<string>();
const cores = coresOf('self');
const pinned = cores.length >= 2 && !spawnSync('taskset', ['--version']).error;

/** The core of the measured system, where it has one to itself. */
export const system_core = pinned ? cores[0] : undefined;

/** One line about how the work is spread over the cores. */
export function placement(): string {
  const [system, tools] = cores;
  if (pinned) return `system under test on core ${system}, upstream and load on core ${tools}`;
  return 'not pinned to cores (taskset or a second core is missing), so all share what there is';
}

export interface StartOptions {
  side: Side;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Opens the channel on which the bench's own programs tell their port and take orders. */
  talks?: boolean;
}

/** Starts a program in a process group of its own, on the core of its side. */
export function start(
  command: string,
  args: readonly string[],
  options: StartOptions,
): ChildProcess {
  const core = String(options.side === 'system' ? cores[0] : cores[1]);
  const [file, ...rest]: [string, ...string[]] =
    pinned && options.side !== 'both'
      ? ['taskset', '-c', core, command, ...args]
      : [command, ...args];
  const child = spawn(file, rest, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'ignore', 'ignore', ...(options.talks ? ['ipc' as const] : [])],
    detached: true,
  });
  children.add(child);
  child.on('error', () => children.delete(child));
  child.on('exit', () => children.delete(child));
  return child;
}

/** Starts one of the bench's own programs; answers when it listens, with its port. */
export async function startOwn(
  file: string,
  args: readonly string[],
  side: Side,
): Promise<{ child: ChildProcess; port: number }> {
  const child = start(process.execPath, [file, ...args], { side, talks: true });
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${file} ended before it was ready`);
  });
  const [{ port }] = (await Promise.race([once(child, 'message'), failed])) as [{ port: number }];
  failed.catch(() => {});
  return { child, port };
}

/** Asks politely, then kills the whole group. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  signal(child, 'SIGTERM');
  const timer = setTimeout(() => signal(child, 'SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}

/** A folder that is gone when the bench is. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  folders.add(folder);
  return folder;
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  } catch {
    // The group has ended by itself.
  }
}

process.on('exit', () => {
  for (const child of children) signal(child, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => process.exit(1));
}
