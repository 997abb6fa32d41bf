import type { ChildProcess } from 'node:child_process';
import { stop } from './child.js';
import { familyOf } from './proc.js';
import type { Kind } from './wording.js';

/** Something that stands between the load and the upstream, and what it may be asked. */
export interface System {
  name: string;
  kinds: readonly Kind[];
  /** Its address, before the path of an API. */
  base: URL;
  headers: Record<string, string>;
  /** Its processes; none for the upstream itself. */
  pids: readonly number[];
  stop(): Promise<void>;
}

export function loopbackAt(port: number): URL {
  return new URL(`http://127.0.0.1:${port}`);
}

/** A system that runs in one child (and that child's children). */
export function systemOf(
  child: ChildProcess,
  {
    name,
    kinds,
    port,
    headers = {},
  }: { port: number; headers?: Record<string, string> } & Pick<System, 'name' | 'kinds'>,
): System {
  const pids = child.pid === undefined ? [] : familyOf(child.pid);
  return { name, kinds, base: loopbackAt(port), headers, pids, stop: () => stop(child) };
}
