import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.js';
import type { Place, Running } from '../../helpers/cli.js';
import { until } from '../../helpers/until.js';

/** Starts a gateway on a store that is there, and sends it a SIGHUP before it can serve. */
export async function startWithHangup(place: Place, ...args: string[]): Promise<Running> {
  // A start that waits for the store is long enough to be hit.
  const database = openSqliteFile(join(place.folder, 'data', 'tollgate.db'));
  database.exec('begin immediate');
  const serving = place.start('serve', ...args);
  await until(() => hearsHangups(serving.child.pid ?? 0), 'it keeps a SIGHUP for later');
  serving.child.kill('SIGHUP');
  database.exec('rollback');
  database.close();
  return serving;
}

/** Whether a process has a listener for SIGHUP, the first of the signals, as Linux tells it. */
async function hearsHangups(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return /^SigCgt:\t\w*[13579bdf]$/mu.test(status);
}

/** The processes whose parent is this one, as Linux tells them. */
export async function workersOf({ child }: Running): Promise<number[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const stats = processes.map(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(pid), parent: Number(parent), state };
  });
  const workers = (await Promise.all(stats)).filter(({ parent }) => parent === child.pid);
  return workers.filter(({ state }) => state !== 'Z').map(({ pid }) => pid);
}

export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether a gateway takes no more connections. */
export async function refusesNewWork(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  // A rejection of `once` is an error of the socket.
  const refused = await once(socket, 'connect').then(
    () => false,
    () => true,
  );
  socket.destroy();
  return refused;
}

/** How often a gateway has logged such a text. */
export function timesSaid({ stderr }: Running, text: string): number {
  return stderr.split(text).length - 1;
}
