import { setTimeout as sleep } from 'node:timers/promises';

/** How often a passing fault is tried again: eight seconds or so in all. */
export const ATTEMPTS = 1_000;

/** Where a single try takes long, as on a server that hangs, this ends the tries. */
const LONGEST_MS = 10_000;

const LONGEST_WAIT_MS = 16;

/**
 * Milliseconds before the next try. The first ones are short, because a writer is mostly done in
 * one or two; chance keeps two processes from trying in step.
 */
export function wait_ms(attempt: number): number {
  return Math.ceil(Math.random() * Math.min(attempt, LONGEST_WAIT_MS));
}

/** Runs the work until it ends well, fails for good, or has been tried often enough. */
export async function withRetry<T>(
  isPassing: (error: unknown) => boolean,
  work: () => T | Promise<T>,
): Promise<T> {
  let began_ms: number | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isPassing(error)) throw error;
      began_ms ??= performance.now();
      if (performance.now() - began_ms > LONGEST_MS) throw error;
      await sleep(wait_ms(attempt));
    }
  }
}

/** The code of a driver's error, such as `SQLITE_BUSY` or `40001`; empty where it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
