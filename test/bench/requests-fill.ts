import { performance } from 'node:perf_hooks';
import Sqlite from 'better-sqlite3';
import { FLAGS, firstIdAt, type RequestRecord } from '../../src/core/request-record.js';
import { requestValues } from '../../src/store/requests/request-columns.js';
import {
  ROLL_UP_ACCOUNTS,
  ROLL_UP_LATENCIES,
  ROLL_UP_TOTALS,
} from '../../src/store/requests/request-totals-sql.js';
import { RECORD } from '../../src/store/sqlite/sqlite-requests.js';
import type { RequestFilter } from '../../src/store/requests/request-types.js';
import { openStore } from '../../src/store/open.js';

// Fills a store with a month of requests and measures what pages ask of it, and the sweep:
// npx tsx test/bench/requests-fill.ts sqlite:/tmp/fill.db 10000000 2, the last one the hours to sweep.

const [url = 'sqlite:/tmp/requests-fill.db', rows = '10000000', swept_hours = '2'] =
  process.argv.slice(2);
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const END_MS = Date.UTC(2026, 0, 31);
const START_MS = END_MS - 30 * DAY_MS;
const BATCH = 50_000;
const ACCOUNTS = 50;
const MODELS = 20;

const store = await openStore(url, { now: () => END_MS });
const [found] = await store.requests.page({ limit: 1 });
if (!found) fill(Number(rows));
const [newest] = await store.requests.page({ limit: 1 });
await measure((newest?.time_ms ?? END_MS) + 1);
await measureSweep();
await store.close();

/** Writes the file past the store: nobody waits for these rows, and none need survive a crash. */
function fill(total: number): void {
  const database = new Sqlite(url.slice('sqlite:'.length));
  database.pragma('synchronous = OFF');
  const insert = database.prepare(RECORD(1));
  const steps = [ROLL_UP_TOTALS, ROLL_UP_ACCOUNTS, ROLL_UP_LATENCIES].map((sql) =>
    database.prepare<{ from: number; to: number }>(sql('$from', '$to')),
  );
  const note = database.prepare('update request_roll_up set upto = ?');
  const began = performance.now();
  for (let from = 0; from < total; from += BATCH) {
    const to = Math.min(from + BATCH, total);
    database.transaction(() => {
      for (let at = from; at < to; at += 1) insert.run(requestValues(recordOf(at, total)));
      for (const step of steps) step.run({ from, to });
      note.run(to);
    })();
    if (to % 1_000_000 === 0) console.log(`${to} rows, ${seconds(began)} s`);
  }
  database.close();
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1_000).toFixed(0);
}

/** A number from 0 to 1, the same for the same number. */
function share(at: number, salt: number): number {
  const mixed = Math.imul(at ^ (at >>> 15), 0x2c1b3c6d + 2 * salt) ^ (at >>> 7);
  return ((Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

function recordOf(at: number, total: number): RequestRecord {
  const time_ms = Math.floor(START_MS + (at / total) * (END_MS - START_MS));
  const account = Math.floor(ACCOUNTS * share(at, 1) ** 3);
  const isRare = at % 20_000 === 7;
  const model = isRare ? 'rare' : `model-${Math.floor(MODELS * share(at, 2) ** 2)}`;
  const fails = share(at, 3) < 0.01;
  const provider = isRare ? 'spare' : `provider-${Math.floor(4 * share(at, 4))}`;
  const id = `${firstIdAt(time_ms)}-7${at.toString(16).padStart(11, '0')}-${'8'.repeat(10)}`;
  const none = { fault: null, status: null, codes: null, message: null };
  return {
    id,
    time_ms,
    account_id: `acc_${String(account).padStart(20, '0')}`,
    key_id: `key_${String(account * 3 + (at % 3)).padStart(20, '0')}`,
    endpoint: 'chat',
    model,
    provider,
    upstream_model: model,
    attempts: [{ provider, model, ...none, took_ms: 900 }],
    status: fails ? 502 : 200,
    code: fails ? 'upstream_error' : null,
    streamed: at % 2 === 0,
    prompt_tokens: 900,
    completion_tokens: 200,
    cached_tokens: at % 3 === 0 ? 500 : null,
    cache_write_tokens: null,
    audio_input_tokens: null,
    audio_output_tokens: null,
    reasoning_tokens: null,
    units: null,
    auth_ms: 0.2,
    read_ms: 0.9,
    hold_ms: 1.6,
    first_token_ms: at % 2 === 0 ? 100 + 400 * share(at, 5) : null,
    took_ms: 200 + 3_000 * share(at, 6) ** 4,
    own_ms: 2,
    cost_nano: fails ? 0n : 250_000n,
    uncollected_nano: 0n,
    flags: at % 100 === 0 ? FLAGS.estimated : 0,
    is_kept: false,
  };
}

async function measure(end_ms: number): Promise<void> {
  const account_id = `acc_${'0'.repeat(20)}`;
  const key_id = `key_${'0'.repeat(20)}`;
  const small = `acc_${String(ACCOUNTS - 1).padStart(20, '0')}`;
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
