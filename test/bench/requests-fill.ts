import { performance } from 'node:perf_hooks';
import type { RequestFilter } from '../../src/store/requests/request-types.js';
import { openStore } from '../../src/store/open.js';
import { accountAt, DAY_MS, END_MS, fillMonth, keyAt, START_MS } from './filled-month.js';

// Fills a store with a month of requests and measures what pages ask of it, and the sweep:
// npx tsx test/bench/requests-fill.ts sqlite:/tmp/fill.db 10000000 2, the last one the hours to sweep.

const [url = 'sqlite:/tmp/requests-fill.db', rows = '10000000', swept_hours = '2'] =
  process.argv.slice(2);
const HOUR_MS = 3_600_000;

const store = await openStore(url, { now: () => END_MS });
fillMonth(url.slice('sqlite:'.length), Number(rows));
await measure(END_MS);
await measureSweep();
await store.close();

async function measure(end_ms: number): Promise<void> {
  const account_id = accountAt(0);
  const key_id = keyAt(0, 0);
  const small = accountAt(999);
  const pages: Record<string, RequestFilter> = {
    'the newest': {},
    'in the middle of the month': { to_ms: end_ms - 15 * DAY_MS },
    'a large account': { account_id },
    'a small account': { account_id: small },
    'a key': { account_id, key_id },
    'a key and a failure': { account_id, key_id, status: 502 },
    'a frequent model': { model: 'model-0' },
    'a rare model': { model: 'rare' },
    'a frequent provider': { provider: 'provider-1' },
    'a rare provider': { provider: 'spare' },
    'a rare model that failed': { model: 'rare', failed: true },
    'a key and a rare model': { account_id, key_id, model: 'rare' },
    'successes of a model and a provider': { model: 'model-3', provider: 'spare', status: 2 },
    'a rare model of an account': { model: 'rare', account_id },
    failures: { failed: true },
    'failures of an account': { failed: true, account_id: small },
    'status 429, which there is none of': { status: 429 },
    'status 201, which there is none of': { status: 201 },
    'status 429 of an account': { account_id, status: 429 },
    'a code that there is none of': { code: 'nothing' },
    'a code that an account has none of': { account_id, code: 'nothing' },
    'a model that there is none of': { model: 'nothing' },
  };
  for (const [name, filter] of Object.entries(pages)) {
    await time(`page: ${name}`, () => store.requests.page({ ...filter, limit: 50 }));
  }
  const { requests } = store;
  const lengths = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS };
  for (const [name, length_ms] of Object.entries(lengths)) {
    const range = { from_ms: end_ms - length_ms, to_ms: end_ms };
    const hours = { ...range, period: 'hour' } as const;
    const days = { ...range, period: 'day' } as const;
    const each = { ...hours, from_ms: Math.max(range.from_ms, end_ms - 2 * DAY_MS) };
    const acts = {
      'totals by the hour': () => requests.totals({ ...hours, by: ['start_ms'] }),
      'totals by the day': () => requests.totals({ ...days, by: ['start_ms'] }),
      'totals by hour and model': () => requests.totals({ ...hours, by: ['start_ms', 'model'] }),
      'totals by model': () => requests.totals({ ...days, by: ['model'] }),
      'totals by account': () => requests.totals({ ...days, by: ['account_id'] }),
      'two days of hours by account': () => requests.totals({ ...each, by: ['account_id'] }),
      'two days of hours by key': () => requests.totals({ ...each, by: ['key_id'] }),
      'hours of an account': () =>
        requests.totals({ ...hours, account_id, by: ['start_ms', 'model'] }),
      'hours of a key': () => requests.totals({ ...hours, account_id, key_id, by: ['model'] }),
      'days by key': () => requests.totals({ ...days, by: ['key_id'] }),
      'days of an account by model': () =>
        requests.totals({ ...days, account_id, by: ['start_ms', 'model'] }),
      'days of a key': () => requests.totals({ ...days, key_id, by: ['start_ms'] }),
      'days of an account': () => requests.totals({ ...days, account_id, by: ['start_ms'] }),
      latencies: () => requests.latencies({ ...range, by: [] }),
      'latencies by the hour': () => requests.latencies({ ...range, by: ['start_ms'] }),
      'latencies by model': () => requests.latencies({ ...range, by: ['model'] }),
      'latencies of days': () => requests.latencies({ ...range, period: 'day', by: [] }),
      'latencies of days by model': () =>
        requests.latencies({ ...range, period: 'day', by: ['start_ms', 'model'] }),
      'latencies of days of an account': () =>
        requests.latencies({ ...range, period: 'day', account_id, by: ['start_ms'] }),
      'latencies of an account': () => requests.latencies({ ...range, account_id, by: [] }),
      'latencies of an account by the hour': () =>
        requests.latencies({ ...range, account_id, by: ['start_ms'] }),
    };
    for (const [act, read] of Object.entries(acts)) await time(`${name}: ${act}`, read);
  }
}

/** The median of five, after a first one that may have to read the disk. */
async function time(name: string, act: () => Promise<readonly unknown[]>): Promise<void> {
  const took: number[] = [];
  let rows = 0;
  for (let at = 0; at < 6; at += 1) {
    const began = performance.now();
    rows = (await act()).length;
    took.push(performance.now() - began);
  }
  const [first = 0, ...rest] = took;
  const median = rest.sort((a, b) => a - b)[2] ?? 0;
  console.log(`${name}: ${median.toFixed(1)} ms, first ${first.toFixed(1)} ms, ${rows} rows`);
}

/** How long the event loop stands still while some hours are swept. */
async function measureSweep(): Promise<void> {
  let longest_ms = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    const now = performance.now();
    longest_ms = Math.max(longest_ms, now - last - 1);
    last = now;
  }, 1);
  const began = performance.now();
  const end_ms = START_MS + Number(swept_hours) * HOUR_MS;
  const before = { records_ms: end_ms, totals_ms: end_ms };
  const swept = await store.requests.sweep(before);
  clearInterval(watch);
  const took = (performance.now() - began).toFixed(0);
  console.log(`sweep: ${swept} rows in ${took} ms, the longest stop ${longest_ms.toFixed(1)} ms`);
}
