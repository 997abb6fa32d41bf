import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type pg from 'pg';
import { codeOf } from '../retry.js';
import { hasChoice, type PostgresPlace } from './postgres-place.js';

type Driver = typeof pg;

const require = createRequire(import.meta.url);
/** Loaded where a store is PostgreSQL alone. */
const driver = (): Driver => require('pg') as Driver;

/** As the driver reads it: a name, an address or the folder of a socket. */
interface Host {
  host: string;
  port: number;
}

/** Finds the host of a store that takes writes, for each new connection. */
class PostgresHosts {
  /** The host that was found last, which most likely is still the right one. */
  #last = 0;

  constructor(private readonly place: PostgresPlace) {}

  /**
   * A host that answers, and takes writes if that is asked for. Rejects with the error of the last
   * host tried.
   */
  async find(): Promise<Host> {
    const { urls } = this.place;
    let failure: unknown;
    for (let turn = 0; turn < urls.length; turn += 1) {
      const at = (this.#last + turn) % urls.length;
      try {
        const host = await this.#ask(urls[at] ?? '');
        this.#last = at;
        return host;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async #ask(url: string): Promise<Host> {
    const client = new (driver().Client)({
      ...this.place.options,
      connectionString: url,
      connectionTimeoutMillis: HOST_MS,
      query_timeout: HOST_MS,
    });
    // The error of a connection that breaks later rejects nothing that anybody waits for.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ transaction_read_only: string }>(
        'show transaction_read_only',
      );
      if (this.place.must_write && rows[0]?.transaction_read_only !== 'off')
        throw new TakesNoWrites();
      return { host: client.host, port: client.port };
    } finally {
      client.end().catch(() => undefined);
    }
  }
}

/** How long one of several hosts may take to answer. */
const HOST_MS = 3_000;

/** As PostgreSQL says it of a statement that writes. */
class TakesNoWrites extends Error {
  readonly code = '25006';
  constructor() {
    super('no host of the store takes writes: all that answer are standbys');
  }
}

const POOLED = new WeakSet<object>();

/**
 * Whether a connection goes through a pooler such as PgBouncer. Each transaction may have another
 * session of PostgreSQL there, so what is set or prepared in one may be missing in the next.
 */
export function isPooled(connection: object): boolean {
  return POOLED.has(connection);
}

/** A client that connects to the host which is found where there are several. */
export function clientOf(place: PostgresPlace): typeof pg.Client {
  const hosts = hasChoice(place) ? new PostgresHosts(place) : undefined;
  return class StoreClient extends driver().Client {
    #failure: Error | undefined;

    override connect(): Promise<pg.Client>;
    override connect(done: (error: Error) => void): void;
    override connect(done?: (error: Error) => void): Promise<pg.Client> | void {
      const connected = this.#open();
      if (!done) return connected;
      connected.then(() => (done as () => void)(), done);
    }

    async #open(): Promise<pg.Client> {
      // PostgreSQL may end a connection that nobody uses, and an error without a listener would end
      // the process. Whoever uses it next is refused.
      this.on('error', (error) => (this.#failure = error));
      try {
        if (hosts) Object.assign(this, await hosts.find());
        const connected = await super.connect();
        await this.#lookForPooler();
        if (this.#failure) throw this.#failure;
        return connected;
      } catch (error) {
        this.end().catch(() => undefined);
        throw isOfCertificate(error) ? new CertificateRefused(error, place.place.ca) : error;
      }
    }

    /** A pooler names a process of its own when a connection begins. */
    async #lookForPooler(): Promise<void> {
      const { rows } = await this.query<{ pid: number }>('select pg_backend_pid() as pid');
      if (rows[0]?.pid !== Reflect.get(this, 'processID')) POOLED.add(this);
    }
  };
}

/** As Node says it of a certificate that is not the server's, not valid or not of an authority. */
const CERTIFICATE = /^(?:ERR_TLS_CERT_.+|CERT_.+|.*(?:_CERT|_CERT_IN_CHAIN|_SIGNATURE|_LOCALLY))$/u;

function isOfCertificate(error: unknown): error is Error {
  return CERTIFICATE.test(codeOf(error));
}

const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** Its message is for operators. */
class CertificateRefused extends Error {
  readonly code = 'CERT_REFUSED';
  constructor(cause: Error, ca: string | undefined) {
    const authority =
      ca === undefined ? 'name its authority in "ca"' : `its authority is not ${ca}`;
    const hint = codeOf(cause) === OTHER_NAME ? '' : `: ${authority}`;
    super(`the certificate of PostgreSQL is refused (${cause.message})${hint}`, { cause });
  }
}

/** The client of knex for such a store. */
export function knexClientOf(place: PostgresPlace): typeof Knex.Client {
  const Client = require('knex/lib/dialects/postgres/index.js') as typeof Knex.Client;
  const found = { ...driver(), Client: clientOf(place) };
  return class extends Client {
    _driver(): Driver {
      return found;
    }
  };
}
