import { setTimeout as sleep } from 'node:timers/promises';

/** The most tries after passing errors. They take about eight seconds in all. */
export const ATTEMPTS = 1_000;

/** No try begins later than this. It matters if each try is slow, as on a server that hangs. */
const MAX_MS = 10_000;

const MAX_WAIT_MS = 16;

/**
 * Milliseconds before the next try. The first waits are short, because most writers finish within
 * one or two. They are random, so that two processes do not retry at the same moments.
 */
export function wait_ms(attempt: number): number {
  return Math.ceil(Math.random() * Math.min(attempt, MAX_WAIT_MS));
}

/** Runs the work until it succeeds, throws an error that is not passing, or runs out of tries. */
export async function withRetry<T>(
  isTransient: (error: unknown) => boolean,
  work: () => T | Promise<T>,
): Promise<T> {
  let began_ms: number | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw error;
      began_ms ??= performance.now();
      if (performance.now() - began_ms > MAX_MS) throw error;
      await sleep(wait_ms(attempt));
    }
  }
}

/** The code of a driver's error, such as `SQLITE_BUSY` or `40001`; empty where it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
