import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { pino } from 'pino';
import { writeCursor } from '../../src/actions/cursor.js';
import { firstIdAt } from '../../src/core/request-record.js';
import { Gateway, checkOrThrow } from '../../src/gateway/gateway.js';
import { dayName } from '../../src/actions/days.js';
import { openStore } from '../../src/store/open.js';
import { accountAt, DAY_MS, END_MS, fillMonth, keyAt, START_MS } from './filled-month.js';

// Fills a store with a month of requests, and times every page of its gateway, with its filters and
// ranges: npx tsx test/bench/page-times.ts sqlite:/tmp/fill.db 5000000 300 'operator: ', where 300
// is the ms that a page may take, and the last one a pattern of the pages to time. In place of 300,
// `fill` ends once the store is filled, and `sweep` deletes the records of an hour, and tells how
// long the event loop stands still meanwhile.

const [url = 'sqlite:/tmp/page-times.db', rows = '5000000', limit = '300', only = '.'] =
  process.argv.slice(2);
const RUNS = 3;
const SWEPT_MS = 3_600_000;

const MODELS = ['model-0', 'model-7', 'rare'];
const UPSTREAMS = 'upstreams: [{ provider: simulator }], price: free';
const YAML = `
listen: 127.0.0.1:0
public_url: http://127.0.0.1:8080
store: ${url}
requests: { keep: 60d }
owners: { acme: { name: Acme } }
providers: { simulator: {} }
models:
${MODELS.map((id) => `  ${id}: { owner: acme, capabilities: [chat], ${UPSTREAMS} }`).join('\n')}
`;

const store = await openStore(url, { now: () => END_MS });
await fillMonth(url, Number(rows));
if (limit === 'sweep') await timeSweep();
await store.close();
if (!['fill', 'sweep'].includes(limit)) await timePages();

async function timeSweep(): Promise<void> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const began = performance.now();
  const before_ms = START_MS + SWEPT_MS;
  const swept = await store.requests.sweep({ records_ms: before_ms, totals_ms: before_ms });
  const took = (performance.now() - began).toFixed(0);
  const longest = (delays.max / 1e6).toFixed(1);
  console.log(`swept ${swept} rows in ${took} ms, the longest stop ${longest} ms`);
}

async function timePages(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pages-'));
  writeFileSync(join(folder, 'gateway.yaml'), YAML);
  const gateway = await Gateway.open(await checkOrThrow(join(folder, 'gateway.yaml'), {}), {
    log: pino({ level: 'silent' }),
    now: () => Math.floor(END_MS + performance.now()),
    random: Math.random,
  });
  const { port } = await gateway.listen();
  const url = `http://127.0.0.1:${port}`;
  const sessionOf = (at: number, operator = false): Promise<string> =>
    gateway.store.sign_in.createSession({
      account_id: accountAt(at),
      email: null,
      via: 'link',
      operator,
    });
  const slow: string[] = [];
  for (const [who, at] of Object.entries({ large: 0, middling: 3, small: 999 })) {
    const session = await sessionOf(at);
    for (const page of ownPages(at)) await time(`${who}: ${page}`, url + page, session);
  }
  const session = await sessionOf(5, true);
  for (const page of operatorPages()) await time(`operator: ${page}`, url + page, session);
  console.log(`\n${slow.length} above ${limit} ms\n${slow.join('\n')}`);
  await gateway.stop();
  rmSync(folder, { recursive: true });

  async function time(name: string, address: string, session_id: string): Promise<void> {
    if (!new RegExp(only, 'u').test(name)) return;
    const took: number[] = [];
    let [status, bytes] = [0, 0];
    let cpu = process.cpuUsage();
    for (let run = 0; run <= RUNS; run += 1) {
      if (run === RUNS) cpu = process.cpuUsage();
      const began = performance.now();
      const headers = { cookie: `session=${session_id}` };
      const answer = await fetch(address, { headers, redirect: 'manual' });
      status = answer.status;
      bytes = await sizeOf(answer, address.includes('format=csv'));
      took.push(performance.now() - began);
    }
    const { user, system } = process.cpuUsage(cpu);
    const [first = 0, ...rest] = took;
    const least = Math.min(...rest);
    const own = `${((user + system) / 1_000).toFixed(0)} ms of the processor`;
    const times = `${first.toFixed(0)} ms, then ${least.toFixed(0)} ms, ${own}`;
    const line = `${times}: ${name} (${status}, ${bytes} B)`;
    console.log(line);
    if (Math.max(first, least) > Number(limit) || status >= 400) slow.push(line);
  }
}

/** The bytes of an answer; of a table that may be long, those that come first. */
async function sizeOf(answer: Response, isLong: boolean): Promise<number> {
  if (!isLong) return (await answer.arrayBuffer()).byteLength;
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return first?.value?.byteLength ?? 0;
}

function dayBack(days: number): string {
  return dayName(END_MS - days * DAY_MS);
}

function query(path: string, words: Record<string, string>): string {
  return `${path}?${new URLSearchParams(words).toString()}`;
}

/** What a visitor of that account can ask for. */
function ownPages(account: number): string[] {
  const key = keyAt(account, 1);
  const filters: Record<string, string>[] = [
    {},
    { model: 'model-0' },
    { model: 'rare' },
    { key },
    { key, model: 'model-0' },
  ];
  const usage = [0, 6, 29, 365].flatMap((days) => {
    const range = { from: dayBack(days), to: dayBack(0) };
    const shown = ['day', 'model', 'key', 'agent'].flatMap((by) => [
      query('/api/usage', { ...range, by }),
      ...filters.flatMap((filter) =>
        ['spend', 'latency'].map((show) => query('/usage', { ...range, by, show, ...filter })),
      ),
    ]);
    return [...shown, query('/caches', range), query('/api/usage', { ...range, format: 'csv' })];
  });
  return [
    '/',
    ...usage,
    query('/usage', { from: dayBack(40), to: dayBack(39) }),
    ...requestFilters([{}, { key }, { key: 'key_of_nobody' }]).map((one) =>
      query('/requests', one),
    ),
    ...deepPages([{}, { key }, { model: 'rare' }]).map((one) => query('/api/requests', one)),
    '/ledger',
    query('/api/ledger', { cursor: writeCursor(100_000) }),
    '/models',
    '/playground',
    '/agents',
    '/docs',
    '/settings',
    '/settings/keys',
    '/settings/keys/new',
    '/api/account',
    '/api/ledger',
    query('/api/ledger', { reference: 'nothing' }),
  ];
}

function operatorPages(): string[] {
  const accounts = [0, 3, 999].map(accountAt);
  const scopes: Record<string, string>[] = [
    {},
    { provider: 'provider-1' },
    { provider: 'spare' },
    ...accounts.flatMap((account) => [{ account }, { account, provider: 'spare' }]),
  ];
  const ofAccounts = accounts.flatMap((id) => [
    `/operator/accounts/${id}`,
    `/operator/accounts/${id}?tab=keys`,
    `/operator/accounts/${id}?tab=ledger`,
    `/operator/accounts/${id}?tab=requests`,
  ]);
  const profit = [0, 29, 365].flatMap((days) => {
    const range = { from: dayBack(days), to: dayBack(0) };
    const split = ['day', 'model', 'provider', 'account'];
    return [query('/operator/profit', range)].concat(
      split.map((by) => query('/api/profit', { ...range, by })),
    );
  });
  return [
    ...['hour', 'day', 'week', 'month'].map((over) => `/operator?over=${over}`),
    ...requestFilters(scopes).map((one) => query('/operator/requests', one)),
    ...deepPages(scopes).map((one) => query('/operator/requests', one)),
    ...profit,
    '/operator/accounts',
    query('/operator/accounts', { find: 'account 77' }),
    ...ofAccounts,
    '/operator/boxes',
    '/operator/providers',
    '/operator/tasks',
    '/operator/audit',
  ];
}

/** The filters of requests: every status with every model, and times and models by themselves. */
function requestFilters(scopes: readonly Record<string, string>[]): Record<string, string>[] {
  const statuses = ['', 'failed', '2', '201', '4', '429', '5', '502', '499'];
  const models = ['', 'model-0', 'rare-hourly', 'rare', 'rare-daily', 'nothing'];
  const times: Record<string, string>[] = [
    { from: dayBack(0) },
    { from: dayBack(1), to: dayBack(1) },
    { from: dayBack(20), to: `${dayBack(10)}T12:30` },
    { to: '2020-01-01' },
  ];
  return scopes.flatMap((scope) => [
    ...statuses.flatMap((status) =>
      models.map((model) => ({
        ...scope,
        ...(status !== '' && { status }),
        ...(model !== '' && { model }),
      })),
    ),
    ...times.flatMap((time) => ['', '2', '429'].map((status) => ({ ...scope, ...time, status }))),
  ]);
}

/** Pages behind many others, tables whose first rows are timed, and client programs. */
function deepPages(scopes: readonly Record<string, string>[]): Record<string, string>[] {
  const cursor = writeCursor(firstIdAt(START_MS + DAY_MS));
  const format = 'csv';
  return scopes.flatMap((scope) => [
    { ...scope, cursor },
    { ...scope, cursor, status: '4' },
    { ...scope, cursor, status: 'failed' },
    { ...scope, format },
    { ...scope, format, status: 'failed' },
    { ...scope, agent: 'claude-cli' },
    { ...scope, agent: 'codex' },
    { ...scope, agent: 'codex', model: 'rare' },
  ]);
}
