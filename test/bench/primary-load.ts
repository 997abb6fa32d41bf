import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { parseDollars } from '../../src/lib/money.js';
import { openStore } from '../../src/store/open.js';
import { serve, type GatewayProcess } from '../money/helpers/gateway-process.js';
import { pricedYaml } from '../money/helpers/priced-yaml.js';
import { startCluster, type Cluster } from '../store/helpers/cluster.js';
import { cpuOf, familyOf } from './proc.js';
import { MessageReader } from './wire.js';
import { answerBody } from './wording.js';

// Measures the calls a second of gateway processes on one PostgreSQL with fsync on, with calls
// on many accounts and with all calls on one, and what a call costs PostgreSQL and the gateways:
// npm run build && npx tsx test/bench/primary-load.ts --processes 2 --connections 64 --seconds 20.

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '2' },
    /** Calls in flight, over all processes. */
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '20' },
  },
});
const [processes, connections, seconds] = [
  Number(values.processes),
  Number(values.connections),
  Number(values.seconds),
];
const WARM_MS = 3_000;
/** Backends of PostgreSQL tell their counts once a second at most. */
const SETTLED_MS = 2_000;

/** Sums since the server started. */
interface Sums {
  calls: number;
  at_ms: number;
  postgres_ms: number;
  gateways_ms: number;
  wal_bytes: number;
  fsyncs: number;
  fsync_ms: number;
  commits: number;
}

const json = answerBody('chat');
const upstream = createServer((socket) => {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}`;
  const end = (): void => void socket.write(`${head}\r\n\r\n${json}`);
  const reader = new MessageReader({ head: () => undefined, body: () => undefined, end });
  socket.on('error', () => undefined).on('data', (bytes) => reader.push(bytes));
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const cluster = await startCluster();
cluster.restart('-c fsync=on -c track_wal_io_timing=on');
const folder = mkdtempSync(join(tmpdir(), 'tollgate-primary-'));
try {
  console.log(`Load of the machine before: ${loadavg()[0]?.toFixed(1)}.`);
  for (const accounts of [connections, 1]) await measure(accounts);
} finally {
  cluster.stop();
  rmSync(folder, { recursive: true });
}
process.exit();

async function measure(accounts: number): Promise<void> {
  const secrets = await customers(cluster, accounts);
  const gateways: GatewayProcess[] = [];
  for (let at = 0; at < processes; at += 1) gateways.push(await startGateway(at));
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const load = startLoad(gateways, secrets);
  await pause(WARM_MS + SETTLED_MS);
  const before = await sums(client, gateways, load.calls());
  await pause(seconds * 1_000);
  const after = await sums(client, gateways, load.calls());
  const faults = await load.stop();
  tell(accounts, before, after, faults);
  await client.end();
  for (const gateway of gateways) await gateway.stop();
}

/** Secrets of accounts with money. */
async function customers({ url }: Cluster, count: number): Promise<string[]> {
  const store = await openStore(url, { now: Date.now });
  const secrets: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const { id } = await store.createAccount(`of ${count}: ${at}`, parseDollars('100000'));
    secrets.push((await store.createKey(id, 'k')).secret);
  }
  await store.close();
  return secrets;
}

function startGateway(at: number): Promise<GatewayProcess> {
  const config = join(folder, `gateway-${at}.yaml`);
  const { port } = upstream.address() as AddressInfo;
  const yaml = pricedYaml({
    upstream: `http://127.0.0.1:${port}`,
    store: cluster.url,
    max_tokens: 1_000,
  });
  writeFileSync(config, `journal: ${join(folder, `journal-${at}`)}\n${yaml}`);
  return serve(config);
}

/** Each connection sends its next call when the answer to the one before is there. */
function startLoad(gateways: readonly GatewayProcess[], secrets: readonly string[]) {
  let calls = 0;
  let faults = 0;
  let isOver = false;
  const sockets = Array.from({ length: connections }, (_, at) => {
    const { url = '' } = gateways[at % gateways.length] ?? {};
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    const call =
      `POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${secrets[at % secrets.length]}\r\ncontent-length: ${body.length}\r\n` +
      `\r\n${body}`;
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(call));
    const reader = new MessageReader({
      head: (text) => (text.startsWith('HTTP/1.1 200') ? (calls += 1) : (faults += 1)),
      body: () => undefined,
      end: () => void (isOver ? socket.end() : socket.write(call)),
    });
    return socket.on('data', (bytes) => reader.push(bytes));
  });
  const ended = Promise.all(sockets.map((one) => new Promise((done) => one.once('close', done))));
  return {
    calls: () => calls,
    stop: async () => {
      isOver = true;
      await ended;
      return faults;
    },
  };
}

async function sums(
  client: pg.Client,
  gateways: readonly GatewayProcess[],
  calls: number,
): Promise<Sums> {
  const at_ms = performance.now();
  const [postmaster] = readFileSync(join(cluster.folder, 'db/postmaster.pid'), 'utf8').split('\n');
  const postgres_ms = cpuOf(familyOf(Number(postmaster))) ?? NaN;
  const gateways_ms = cpuOf(gateways.map(({ pid }) => pid)) ?? NaN;
  const { rows } = await client.query<Record<string, string>>(`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal_bytes, wal_sync as fsyncs,
      wal_sync_time as fsync_ms, (select sum(xact_commit) from pg_stat_database) as commits
    from pg_stat_wal`);
  const number = (name: string): number => Number(rows[0]?.[name]);
  return {
    calls,
    at_ms,
    postgres_ms,
    gateways_ms,
    wal_bytes: number('wal_bytes'),
    fsyncs: number('fsyncs'),
    fsync_ms: number('fsync_ms'),
    commits: number('commits'),
  };
}

function tell(accounts: number, before: Sums, after: Sums, faults: number): void {
  const grown = (name: keyof Sums): number => after[name] - before[name];
  const calls = grown('calls');
  const each = (name: keyof Sums, digits: number): string => (grown(name) / calls).toFixed(digits);
  const row = {
    accounts,
    processes,
    connections,
    calls_a_second: Math.round((calls / grown('at_ms')) * 1_000),
    postgres_ms_a_call: each('postgres_ms', 2),
    gateways_ms_a_call: each('gateways_ms', 2),
    wal_bytes_a_call: each('wal_bytes', 0),
    fsyncs_a_call: each('fsyncs', 2),
    ms_an_fsync: (grown('fsync_ms') / grown('fsyncs')).toFixed(2),
    commits_a_call: each('commits', 2),
    not_answered_200: faults,
  };
  console.log(JSON.stringify(row, null, 2));
}
