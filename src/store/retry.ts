import { setTimeout as sleep } from 'node:timers/promises';

/** The most tries after passing errors. They take about eight seconds in all. */
export const ATTEMPTS = 1_000;

/** No try begins later than this. It matters if each try is slow, as on a server that hangs. */
const MAX_MS = 10_000;

const MAX_WAIT_MS = 16;

/**
 * Milliseconds before the next try after a conflict. The first waits are short, because most
 * writers finish within one or two. They are random, so that two processes do not retry at the same
 * moments.
 */
export function wait_ms(attempt: number): number {
  return Math.ceil(Math.random() * Math.min(attempt, MAX_WAIT_MS));
}

const [FIRST_OUTAGE_MS, LONGEST_OUTAGE_MS] = [100, 2_000];

/**
 * Milliseconds before the next try of a server that refuses connections: twice as long each time,
 * between half of that and all of it, so that processes do not return in step.
 */
export function outageWait_ms(attempt: number, random: () => number = Math.random): number {
  const longest_ms = Math.min(FIRST_OUTAGE_MS * 2 ** (attempt - 1), LONGEST_OUTAGE_MS);
  return Math.ceil(longest_ms * (0.5 + random() / 2));
}

/** The wait before the next try after an error; undefined if it is not tried again. */
export type RetryWait = (error: unknown, attempt: number) => number | undefined;

/** Runs the work until it succeeds, throws an error that is not passing, or runs out of tries. */
export async function withRetry<T>(waitAfter: RetryWait, work: () => T | Promise<T>): Promise<T> {
  let began_ms: number | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const next_ms = waitAfter(error, attempt);
      if (attempt === ATTEMPTS || next_ms === undefined) throw error;
      began_ms ??= performance.now();
      if (performance.now() - began_ms > MAX_MS) throw error;
      await sleep(next_ms);
    }
  }
}

/** The code of a driver's error, such as `SQLITE_BUSY` or `40001`; empty where it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
