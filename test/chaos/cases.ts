import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.js';
import { startProxy, type Proxy } from '../helpers/proxy.js';
import { startCluster, type Cluster } from '../store/helpers/cluster.js';
import { startPooler } from '../store/helpers/pgbouncer.js';
import type { Case, Scene, Stage } from './chaos-run.js';

/** The program of the release before, as `npm run test:upgrade` builds it. */
export const PREVIOUS = process.env.TOLLGATE_TEST_PREVIOUS;
/** What a failover or a kill is followed by, at least. */
const STEP_MS = 1_000;

type Disturb = (scene: Scene) => Promise<void>;

/** Kills boxes by chance, and starts each again. */
async function killBoxes({ boxes, count, ms }: Scene): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    await boxes.crash(Math.floor(Math.random() * count));
    await pause(STEP_MS * Math.random());
  }
}

/** Kills two boxes in the same moment, and starts both again. */
async function killPairs({ boxes, count, ms }: Scene): Promise<void> {
  const end = performance.now() + ms;
  for (let place = 0; performance.now() < end; place += 1) {
    await Promise.all([boxes.crash(place % count), boxes.crash((place + 1) % count)]);
    await pause(STEP_MS * Math.random());
  }
}

async function replaceBoxes({ boxes, count, ms }: Scene): Promise<void> {
  for (let place = 0; place < count; place += 1) {
    await boxes.replace(place);
    await pause(ms / count);
  }
}

function urlThrough(proxy: Proxy, { url }: Cluster): string {
  const through = new URL(url);
  through.port = String(proxy.port);
  return through.href;
}

/** One PostgreSQL behind a proxy. */
async function onOne(
  disturb: (scene: Scene, cluster: Cluster, proxy: Proxy) => Promise<void>,
  options = '',
): Promise<Stage> {
  const cluster = await startCluster();
  if (options !== '') cluster.restart(options);
  const proxy = await startProxy('127.0.0.1', Number(new URL(cluster.url).port));
  return {
    url: urlThrough(proxy, cluster),
    books_url: cluster.url,
    disturb: (scene) => disturb(scene, cluster, proxy),
    close: async () => {
      await proxy.close();
      cluster.stop();
    },
  };
}

/** A primary that dies, and a standby that takes its place. */
async function onTwo(synchronous: boolean, alongside?: Disturb): Promise<Stage> {
  const primary = await startCluster();
  const standby = await (synchronous ? primary.standby() : primary.follower());
  const [first, second] = [primary, standby].map(({ url }) => new URL(url).host);
  const url = primary.url.replace(first ?? '', `${first},${second}`);
  return {
    url,
    disturb: async (scene) => {
      const beside = alongside?.(scene);
      await pause(scene.ms / 2);
      if (!synchronous) {
        const deaf = "alter system set primary_conninfo = ''";
        await withSql(standby.url, deaf, 'select pg_reload_conf()');
        await pause(STEP_MS);
      }
      primary.kill();
      standby.promote();
      await Promise.all([beside, pause(scene.ms / 2)]);
    },
    close: async () => {
      primary.stop();
      standby.stop();
    },
  };
}

/** One PostgreSQL behind a PgBouncer, which is killed and comes back. */
async function onPooled(alongside?: Disturb): Promise<Stage> {
  const cluster = await startCluster();
  const pooler = await startPooler(cluster);
  return {
    url: pooler.url,
    books_url: cluster.url,
    disturb: async (scene) => {
      const beside = alongside?.(scene);
      await pause(scene.ms / 4);
      await pooler.stop();
      await pause(scene.ms / 4);
      await pooler.start();
      await Promise.all([beside, pause(scene.ms / 2)]);
    },
    close: async () => {
      await pooler.stop();
      cluster.stop();
    },
  };
}

/** A file of SQLite. */
async function onSqlite(disturb: (scene: Scene, file: string) => Promise<void>): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-chaos-store-'));
  const file = join(folder, 'tollgate.db');
  return {
    url: `sqlite:${file}`,
    disturb: (scene) => disturb(scene, file),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const away =
  (state: 'shut' | 'hangs') =>
  async ({ ms }: Scene, _: Cluster, proxy: Proxy): Promise<void> => {
    proxy.set(state);
    await pause(ms);
    proxy.set('here');
  };

async function withSql(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const sql of statements) await client.query(sql);
  await client.end();
}

async function makeReadOnly({ ms }: Scene, { url }: Cluster): Promise<void> {
  const set = 'alter system set default_transaction_read_only = on';
  await withSql(url, set, 'select pg_reload_conf()');
  await pause(ms);
  const reset = 'alter system reset default_transaction_read_only';
  await withSql(url, 'set default_transaction_read_only = off', reset, 'select pg_reload_conf()');
}

/** Other clients take what connections there are, and end those of the boxes. */
async function takeConnections({ ms }: Scene, { url }: Cluster): Promise<void> {
  const taken: Client[] = [];
  const take = async (): Promise<boolean> => {
    const client = new Client({ connectionString: url, application_name: 'other' });
    client.on('error', () => undefined);
    const isTaken = await client.connect().then(
      () => true,
      () => false,
    );
    if (isTaken) taken.push(client);
    return isTaken;
  };
  const end = performance.now() + ms;
  while (performance.now() < end) {
    while (await take());
    await taken[0]?.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name <> 'other' and backend_type = 'client backend'`);
    await pause(STEP_MS / 4);
  }
  await Promise.all(taken.map((client) => client.end()));
}

async function lockFile({ ms }: Scene, file: string): Promise<void> {
  const database = openSqliteFile(file);
  database.exec('begin immediate; update accounts set name = name');
  await pause(ms);
  database.exec('commit');
  database.close();
}

/** Lets the process write no file beyond 4 KB, as a full disk does. */
async function fillDisk({ boxes, ms }: Scene): Promise<void> {
  const limit = (bytes: string): void => {
    const pids = boxes.running.map(({ pid }) => String(pid));
    for (const pid of pids) execFileSync('prlimit', ['--pid', pid, `--fsize=${bytes}:unlimited`]);
  };
  limit('4096');
  await pause(ms);
  limit('unlimited');
}

const killsWhile =
  (disturb: (scene: Scene, cluster: Cluster, proxy: Proxy) => Promise<void>) =>
  async (scene: Scene, cluster: Cluster, proxy: Proxy): Promise<void> => {
    await Promise.all([disturb(scene, cluster, proxy), scene.boxes.crash(0), scene.boxes.crash(1)]);
  };

const FOUR = { boxes: 4 };
const REPLACED = PREVIOUS === undefined ? 'boxes replaced' : 'boxes upgraded';
const previous = PREVIOUS === undefined ? {} : { main: PREVIOUS };

/** Each disturbance; those on PostgreSQL have a server of their own. */
export const CASES: readonly Case[] = [
  {
    name: 'boxes killed',
    story: 'One box after another is killed and started again.',
    ...FOUR,
    begin: () => onOne(killBoxes),
  },
  {
    name: 'two boxes killed at once',
    story: 'Two of the four are killed in the same moment, and started again.',
    ...FOUR,
    begin: () => onOne(killPairs),
  },
  {
    name: REPLACED,
    story: 'Each box is stopped, and another takes its place.',
    ...FOUR,
    ...previous,
    begin: () => onOne(replaceBoxes),
  },
  {
    name: 'synchronous failover',
    story: 'The primary dies; the standby that each commit waited for is promoted.',
    ...FOUR,
    begin: () => onTwo(true),
  },
  {
    name: 'synchronous failover, boxes killed',
    story: 'The same, while boxes are killed.',
    ...FOUR,
    begin: () => onTwo(true, killBoxes),
  },
  {
    name: `synchronous failover, ${REPLACED}`,
    story: 'The same, while each box is replaced.',
    ...FOUR,
    ...previous,
    begin: () => onTwo(true, replaceBoxes),
  },
  {
    name: 'asynchronous failover',
    story: 'The primary dies a second after its standby stopped hearing of it.',
    ...FOUR,
    may_lose: true,
    begin: () => onTwo(false),
  },
  {
    name: 'store away',
    story: 'Connections to the store are refused.',
    ...FOUR,
    begin: () => onOne(away('shut')),
  },
  {
    name: 'store away, boxes killed',
    story: 'The same, while two boxes are killed and started again.',
    ...FOUR,
    begin: () => onOne(killsWhile(away('shut'))),
  },
  {
    name: 'store hanging',
    story: 'Connections to the store stay, and no byte passes.',
    ...FOUR,
    begin: () => onOne(away('hangs')),
  },
  {
    name: 'store read-only',
    story: 'The store takes no writes.',
    ...FOUR,
    begin: () => onOne(makeReadOnly),
  },
  {
    name: 'store full of connections',
    story: 'Other clients take each connection; those of the boxes are ended.',
    ...FOUR,
    begin: () => onOne(takeConnections, '-c max_connections=70'),
  },
  {
    name: 'PgBouncer killed',
    story: 'The pooler before the store, in transaction mode, dies and comes back.',
    ...FOUR,
    begin: () => onPooled(),
  },
  {
    name: 'PgBouncer and boxes killed',
    story: 'The same, while boxes are killed.',
    ...FOUR,
    begin: () => onPooled(killBoxes),
  },
  {
    name: 'SQLite, killed',
    story: 'A process with four workers is killed and started again.',
    boxes: 1,
    args: ['--workers', '4'],
    begin: () => onSqlite(killBoxes),
  },
  {
    name: 'SQLite, locked',
    story: 'Another program locks the file of a process with four workers.',
    boxes: 1,
    args: ['--workers', '4'],
    begin: () => onSqlite(lockFile),
  },
  {
    name: 'SQLite, disk full',
    story: 'No file of one process may grow.',
    boxes: 1,
    begin: () => onSqlite(fillDisk),
  },
];
