/**
 * `rate-taker.ts URL MINUTES REQUESTS LIMIT [AT_ONCE]`: in each of so many minutes makes so many
 * requests of one key and of all, and prints the minute in which each that was admitted was
 * counted. AT_ONCE is the limit of requests at once of all; they end when all of a turn are
 * admitted or refused.
 */
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openStore } from '../../../src/store/open.js';

const IN_FLIGHT = 50;
const BEGIN_MS = 1_800_000_000_000;
const [url = '', ...numbers] = process.argv.slice(2);
const [minutes = 0, requests = 0, limit = 0, at_once] = numbers.map(Number);

// A test that fails leaves nobody behind.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();

let now_ms = BEGIN_MS;
const store = await openStore(url, { now: () => now_ms });
const limits = [
  { counter: 'key key_1', rates: { requests_per_minute: limit } },
  {
    counter: 'all',
    rates: { tokens_per_minute: limit * 10, ...(at_once && { concurrent_requests: at_once }) },
  },
];

async function request(): Promise<void> {
  const request_id = randomUUID();
  const result = await store.rates.take({ request_id, limits, tokens: 10 });
  if (!result.admitted) return;
  writeSync(1, `${result.counts[0]?.window_ms}\n`);
  const windows_ms = result.counts.map(({ window_ms }) => window_ms);
  await store.rates.end({ request_id, limits, tokens: 0, windows_ms });
}

for (let minute = 0; minute < minutes; minute += 1, now_ms += 60_000) {
  for (let left = requests; left > 0; left -= IN_FLIGHT) {
    await Promise.all(Array.from({ length: Math.min(left, IN_FLIGHT) }, request));
  }
}
await store.close();
