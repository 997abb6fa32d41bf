import { connect } from 'node:net';
import type { ChildProcess } from 'node:child_process';

const STEP_MS = 50;

/** Resolves when something takes connections there; throws when the program ends or is too late. */
export async function taken(port: number, child: ChildProcess, wait_ms: number): Promise<void> {
  const deadline_ms = performance.now() + wait_ms;
  while (performance.now() < deadline_ms) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it ended at once');
    if (await connects(port)) return;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  throw new Error(`it did not listen within ${wait_ms / 1_000} s`);
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
