import { createRequire } from 'node:module';
import type Sqlite from 'better-sqlite3';
import type { Knex } from 'knex';
import { StoreError } from '../store-error.js';

type Driver = typeof Sqlite;

/** The packages that npm may have put better-sqlite3 beside: on Node 20 the second has its own. */
const PLACES = ['./', 'better-sqlite3-node-20/package.json'];

/**
 * The version for this Node. Version 13 ends Node 20 with SIGSEGV, and 12 ends Node 24 with
 * SIGABRT, so neither may be tried where the other belongs.
 */
const [node_major = 0] = process.versions.node.split('.').map(Number);
const MAJOR = node_major >= 22 ? 13 : 12;

const require = createRequire(import.meta.url);
let driver: Driver | undefined;

/** Opens a file of SQLite, which no other module does. Throws `StoreError` without a driver. */
export function openSqliteFile(file: string, options?: Sqlite.Options): Sqlite.Database {
  return new (loadedDriver())(file, options);
}

/** The client of knex for SQLite, which by itself takes what `require('better-sqlite3')` finds. */
export function sqliteClient(): typeof Knex.Client {
  const loaded = loadedDriver();
  const Client = require('knex/lib/dialects/better-sqlite3/index.js') as typeof Knex.Client;
  return class extends Client {
    _driver(): Driver {
      return loaded;
    }
  };
}

/** The file that a thread requires. */
export function sqliteDriverFile(): string {
  const found = PLACES.map(fittingDriver).find((file) => file !== undefined);
  if (found === undefined) throw noDriver('is not installed');
  return found;
}

function fittingDriver(place: string): string | undefined {
  try {
    const beside = createRequire(place === './' ? import.meta.url : require.resolve(place));
    const { version } = beside('better-sqlite3/package.json') as { version: string };
    return version.startsWith(`${MAJOR}.`) ? beside.resolve('better-sqlite3') : undefined;
  } catch {
    return undefined;
  }
}

function loadedDriver(): Driver {
  if (driver) return driver;
  const file = sqliteDriverFile();
  try {
    const loaded = require(file) as Driver;
    // Only this loads the compiled part.
    new loaded(':memory:').close();
    driver = loaded;
    return loaded;
  } catch (error) {
    throw noDriver('cannot be loaded', error);
  }
}

function noDriver(what: string, cause?: unknown): StoreError {
  return new StoreError(
    `better-sqlite3 ${MAJOR}, which SQLite needs on Node ${node_major}, ${what}: ` +
      'run "npm ci" in a checkout, or elsewhere remove node_modules and package-lock.json and ' +
      'install Tollgate again.',
    { cause },
  );
}
