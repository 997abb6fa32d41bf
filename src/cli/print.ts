import { commandIo } from './command-io.js';

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2));
}

export function printLine(text: string): void {
  commandIo().stdout.write(`${text}\n`);
}

/** `1 account`, `2 accounts`. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Formats milliseconds since 1970 as ISO 8601 in UTC. */
export function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
