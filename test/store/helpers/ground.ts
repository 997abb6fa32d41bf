import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { writeNewStore } from '../../helpers/new-store.js';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.js';
import { MACHINE } from '../../../src/store/leases/liveness.js';
import { openStore } from '../../../src/store/open.js';
import { PostgresSchema } from './postgres-schema.js';
import type { Store } from '../../../src/store/store-types.js';
import type { Charge } from '../../../src/store/ledger/ledger-columns.js';

type Row = Record<string, unknown>;

/** A database to itself, and what a test needs to look behind the store's back. */
export interface Place {
  dialect: Store['dialect'];
  url: string;
  /** Runs SQL on a connection of its own, which in SQLite enforces no foreign keys. */
  sql(text: string): Promise<Row[]>;
  /** Runs SQL in a transaction that locks what it writes until the answer is called. */
  lock(text: string): Promise<() => Promise<void>>;
  /** Brings the empty database up to date. */
  migrate(): Promise<void>;
  drop(): Promise<void>;
}

/** The place and number of a process on this machine that has ended, as SQL writes them. */
export const ENDED = `'${MACHINE}', ${2 ** 30}`;

/** The database of the running test; a new one for each, with all migrations. */
export class Ground {
  now_ms = 1_800_000_000_000;
  /** What the monotonic clock of the process shows. */
  elapsed_ms = 0;
  #place: Place | undefined;
  #stores: Store[] = [];

  constructor(readonly make: () => Promise<Place>) {}

  get place(): Place {
    if (!this.#place) throw new Error('A place is there only while a test runs.');
    return this.#place;
  }

  /** Opens a store that is closed after the test, if the test has not done so. */
  async open(): Promise<Store> {
    const store = await openStore(this.place.url, {
      now: () => this.now_ms,
      elapsed_ms: () => this.elapsed_ms,
    });
    this.#stores.push(store);
    return store;
  }

  /** Lets a whole lease go by, during which the stores look at the other processes regularly. */
  async lapse(...stores: Store[]): Promise<void> {
    for (const wait_ms of [30_000, 30_000, 1]) {
      for (const store of stores) await store.recover();
      this.elapsed_ms += wait_ms;
    }
  }

  async close(store: Store): Promise<void> {
    this.#stores = this.#stores.filter((open) => open !== store);
    await store.close();
  }

  async begin(): Promise<void> {
    this.#place = await this.make();
    await this.#place.migrate();
  }

  async end(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store.close();
    await this.#place?.drop();
    this.#place = undefined;
  }
}

type StoreName = 'SQLite' | 'PostgreSQL';

/** Defines the same tests for SQLite, and for PostgreSQL where `TOLLGATE_TEST_POSTGRES` is set. */
export function onEachStore(
  subject: string,
  define: (ground: Ground, name: StoreName) => void,
  names: readonly StoreName[] = ['SQLite', 'PostgreSQL'],
): void {
  const postgres = process.env.TOLLGATE_TEST_POSTGRES;
  const grounds = new Map<StoreName, () => Promise<Place>>([['SQLite', makeSqlite]]);
  const spares: PostgresSchema[] = [];
  if (postgres) grounds.set('PostgreSQL', () => makePostgres(postgres, spares));
  for (const [name, make] of grounds) {
    if (!names.includes(name)) continue;
    describe(`${subject} on ${name}`, () => {
      const ground = new Ground(make);
      beforeEach(() => ground.begin());
      define(ground, name);
      // Last, so that whatever a test has opened on it is closed by then.
      afterEach(() => ground.end());
      after(async () => {
        for (const spare of spares.splice(0)) await spare.drop();
      });
    });
  }
}

/** An empty database of the other kind, or of SQLite where there is no PostgreSQL. */
export async function makeOtherPlace({ dialect }: Place): Promise<Place> {
  const postgres = process.env.TOLLGATE_TEST_POSTGRES;
  return dialect === 'sqlite' && postgres ? makePostgres(postgres) : makeSqlite();
}

async function makeSqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'));
  const file = join(folder, 'data', 'tollgate.db');
  return {
    dialect: 'sqlite',
    url: `sqlite:${file}`,
    async sql(text) {
      const database = openSqliteFile(file);
      try {
        database.pragma('foreign_keys = OFF');
        if (/^\s*select/i.test(text)) return database.prepare<[], Row>(text).all();
        database.exec(text);
        return [];
      } finally {
        database.close();
      }
    },
    async lock(text) {
      const database = openSqliteFile(file);
      database.exec(`begin immediate; ${text}`);
      return async () => {
        database.exec('commit');
        database.close();
      };
    },
    migrate: () => writeNewStore(file),
    async drop() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `spares` are the migrated schemas that tests before have left as new, of which it takes one. */
async function makePostgres(base: string, spares: PostgresSchema[] = []): Promise<Place> {
  const name = `tollgate_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(base);
  url.searchParams.set('options', `-c search_path=${name}`);
  url.searchParams.set('application_name', name.slice(0, 40));
  const connected = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    return client;
  };
  const spare = spares.pop();
  const schema = spare ?? new PostgresSchema(await connected());
  await (spare ? spare.rename(name) : schema.create(name));
  return {
    dialect: 'postgres',
    url: url.href,
    sql: async (text) => (await schema.client.query<Row>(text)).rows,
    migrate: () => schema.migrate(url.href),
    async lock(text) {
      const client = await connected();
      await client.query(`begin; ${text}`);
      return async () => {
        await client.query('commit');
        await client.end();
      };
    },
    async drop() {
      if (await schema.isMadeNew()) spares.push(schema);
      else await schema.drop();
    },
  };
}

/** Nano-dollars of so many whole dollars. */
export function dollars(amount: number): bigint {
  return BigInt(amount) * 1_000_000_000n;
}

export function chargeOf(
  request_id: string,
  account_id: string,
  cost_nano: bigint,
  rest: Partial<Charge> = {},
): Charge {
  return {
    request_id,
    account_id,
    cost_nano,
    key_id: 'key_1',
    model: 'gpt-4o-mini',
    provider: 'openai',
    estimated: false,
    usage: '{"prompt_tokens":9,"completion_tokens":5}',
    ...rest,
  };
}

/** The message that the promise is rejected with; fails if it is not rejected. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  throw new Error('This was expected to be refused.');
}
