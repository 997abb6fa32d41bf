import pg from 'pg';
import type { StorePlace } from '../../core/store-place.js';
import { InFlightSet, type Indexed } from '../../lib/in-flight-set.js';
import {
  afterBreak,
  afterConflict,
  afterTransient,
  connectionsOf,
  onPostgres,
  timeLimits,
} from '../database.js';
import type { Process } from '../leases/leases.js';
import { codeOf } from '../retry.js';
import { clientOf, isPooled } from './postgres-hosts.js';
import { postgresPlaceOf } from './postgres-place.js';
import { SQL } from './postgres-statements.js';

const STATEMENT_MS = 9_000;
/** So much longer a caller waits: the server has ended its statement when it gives up. */
const BEYOND_MS = 1_000;
const FOREIGN_KEY_VIOLATION = '23503';

type Name = keyof typeof SQL;
type Result<Row extends pg.QueryResultRow> = Promise<pg.QueryResult<Row>>;

/** Runs a statement inside a transaction. */
export type Query = <Row extends pg.QueryResultRow>(
  text: string,
  values?: unknown[],
) => Result<Row>;

interface Tracked extends Indexed {
  ended: Promise<unknown>;
}

/**
 * Listens to the error of a connection that breaks. The statement that it runs rejects with it too;
 * without a listener, it would end the process.
 */
const ignore = (): void => undefined;

/** Runs the prepared statements of the hot path on a pool of connections, with retries. */
export class PostgresSession {
  readonly process_id: string;
  readonly #pool: pg.Pool;
  readonly #inFlight = new InFlightSet<Tracked>();

  constructor(
    place: StorePlace,
    private readonly self: Process,
    readonly now: () => number,
  ) {
    this.process_id = self.id;
    const found = postgresPlaceOf(place);
    const statement_ms = Math.min(STATEMENT_MS, place.statement_ms);
    this.#pool = new pg.Pool({
      ...found.options,
      Client: clientOf(found),
      connectionString: found.urls[0],
      max: connectionsOf(place).calls,
      connectionTimeoutMillis: place.connect_ms,
      keepAlive: true,
      // A server that hangs without closing must not block the connection and its caller for ever.
      query_timeout: statement_ms + BEYOND_MS,
      onConnect: async (client: pg.ClientBase) => {
        if (!isPooled(client)) await client.query(timeLimits(statement_ms));
      },
    });
    // The pool replaces an idle connection that breaks.
    this.#pool.on('error', ignore);
  }

  /** Runs a statement, and again if PostgreSQL rolled it back. */
  run<Row extends pg.QueryResultRow>(name: Name, values: unknown[]): Result<Row> {
    return onPostgres(afterConflict, () => this.#query<Row>(name, values));
  }

  /** Runs a read that a call waits for, and once more if its connection breaks. */
  read<Row extends pg.QueryResultRow>(name: Name, values: unknown[]): Result<Row> {
    return onPostgres(afterBreak, () => this.#query<Row>(name, values));
  }

  /** Runs a statement that may run twice without harm: also again after a lost connection. */
  runIdempotent<Row extends pg.QueryResultRow>(name: Name, values: unknown[]): Result<Row> {
    return onPostgres(afterTransient, () => this.#query<Row>(name, values));
  }

  /** Runs statements in one transaction, and again if PostgreSQL rolled it back. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const run = (client: pg.PoolClient): Promise<T> => inTransaction(client, work);
    return onPostgres(afterConflict, () => this.#withClient(run));
  }

  async #withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      // A connection whose transaction failed is closed, which rolls it back.
      client.release(failure);
    }
  }

  /**
   * Runs a statement that refers to the process row. A process registers at its first hold, and
   * again if another one took it for dead.
   */
  async ensureRegistered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error;
      await this.heartbeat();
      return work();
    }
  }

  async heartbeat(note?: string, box?: string): Promise<void> {
    const { id, place, pid, started_ms } = this.self;
    const said = [note ?? null, box ?? null];
    await this.runIdempotent('heartbeat', [id, place, pid, started_ms, ...said]);
  }

  /** Makes `close` wait for a command, which may take more than one statement. */
  async track<T>(ended: Promise<T>): Promise<T> {
    const command = { ended, index: -1 };
    this.#inFlight.add(command);
    try {
      return await ended;
    } finally {
      this.#inFlight.delete(command);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#inFlight, ({ ended }) => ended));
    try {
      await this.runIdempotent('leave', [this.process_id]);
    } finally {
      await this.#pool.end();
    }
  }

  #query<Row extends pg.QueryResultRow>(name: Name, values: unknown[]): Result<Row> {
    const text = SQL[name];
    return this.#withClient((client) =>
      client.query<Row>(isPooled(client) ? { text, values } : { name, text, values }),
    );
  }
}

async function inTransaction<T>(
  client: pg.PoolClient,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  await client.query('begin');
  const value = await work((text, values) => client.query(text, values));
  await client.query('commit');
  return value;
}

/** PostgreSQL refused a value, or a row that breaks a constraint, and changed nothing. */
export function isDataError(error: unknown): boolean {
  return /^2[23]/u.test(codeOf(error));
}
