import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pino } from 'pino';
import { Gateway, checkOrThrow } from '../../src/gateway/gateway.js';
import { dayName } from '../../src/actions/days.js';
import { openStore } from '../../src/store/open.js';
import { accountAt, DAY_MS, END_MS, fillMonth, keyAt } from './filled-month.js';

// Times every page of a gateway whose store has a month of requests, with its filters and ranges:
// npx tsx test/bench/page-times.ts /tmp/fill.db 10000000 300 'operator: ', where 300 is the ms that
// a page may take, and the last one a pattern of the pages to time. `fill` in place of 300 fills
// the file and ends.

const [path = '/tmp/requests-fill.db', rows = '10000000', limit = '300', only = '.'] =
  process.argv.slice(2);
const RUNS = 3;
const file = resolve(path);

const MODELS = ['model-0', 'model-7', 'rare'];
const UPSTREAMS = 'upstreams: [{ provider: simulator }], price: free';
const YAML = `
listen: 127.0.0.1:0
public_url: http://127.0.0.1:8080
store: sqlite:${file}
requests: { keep: 60d }
owners: { acme: { name: Acme } }
providers: { simulator: {} }
models:
${MODELS.map((id) => `  ${id}: { owner: acme, capabilities: [chat], ${UPSTREAMS} }`).join('\n')}
`;

const store = await openStore(`sqlite:${file}`, { now: () => END_MS });
await store.close();
fillMonth(file, Number(rows));
if (limit !== 'fill') await timePages();

async function timePages(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pages-'));
  writeFileSync(join(folder, 'gateway.yaml'), YAML);
  const gateway = await Gateway.open(await checkOrThrow(join(folder, 'gateway.yaml'), {}), {
    log: pino({ level: 'silent' }),
    now: () => END_MS + performance.now(),
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
    for (let run = 0; run <= RUNS; run += 1) {
      const began = performance.now();
      const headers = { cookie: `session=${session_id}` };
      const answer = await fetch(address, { headers, redirect: 'manual' });
      status = answer.status;
      bytes = (await answer.arrayBuffer()).byteLength;
      took.push(performance.now() - began);
    }
    const [first = 0, ...rest] = took;
    const least = Math.min(...rest);
    const times = `${first.toFixed(0)} ms, then ${least.toFixed(0)} ms`;
    const line = `${times}: ${name} (${status}, ${bytes} B)`;
    console.log(line);
    if (Math.max(first, least) > Number(limit) || status >= 400) slow.push(line);
  }
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
  const usage = [0, 1, 6, 29, 30, 89, 365].flatMap((days) =>
    filters.flatMap((filter) =>
      ['day', 'model', 'key'].flatMap((by) =>
        ['spend', 'latency'].map((show) =>
          query('/usage', { from: dayBack(days), to: dayBack(0), by, show, ...filter }),
        ),
      ),
    ),
  );
  return [
    '/',
    ...usage,
    query('/usage', { from: dayBack(40), to: dayBack(39) }),
    ...requestFilters([{}, { key }, { key: 'key_of_nobody' }]).map((one) =>
      query('/requests', one),
    ),
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
    query('/api/usage', { from: dayBack(0), by: 'model' }),
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
  ]);
  return [
    ...['hour', 'day', 'week', 'month'].map((over) => `/operator?over=${over}`),
    ...requestFilters(scopes).map((one) => query('/operator/requests', one)),
    '/operator/accounts',
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
