import type pg from 'pg';
import { migrateSchema } from '../../helpers/new-store.js';

/** Of a table larger than this the next test would notice what the one before has deleted. */
const MAX_BYTES = 2 ** 21;

/** Every object of the schema, with the transaction that changed it last. */
const SHAPE = `
with relations as (select oid, xmin from pg_class where relnamespace = current_schema()::regnamespace)
select md5(string_agg(one, ' ' order by one)) as shape from (
  select 'relation' || oid || ' ' || xmin as one from relations
  union all select 'column' || attrelid || ' ' || attnum || ' ' || xmin from pg_attribute
    where attrelid in (select oid from relations)
  union all select 'constraint' || oid || ' ' || xmin from pg_constraint
    where connamespace = current_schema()::regnamespace
  union all select 'trigger' || oid || ' ' || xmin from pg_trigger
    where tgrelid in (select oid from relations)
  union all select 'function' || oid || ' ' || xmin from pg_proc
    where pronamespace = current_schema()::regnamespace
) as objects`;

const RELATIONS = `
select relname as name, relkind as kind, pg_relation_size(oid)::integer as bytes from pg_class
where relnamespace = current_schema()::regnamespace and relkind in ('r', 'S')`;

interface Relation {
  name: string;
  kind: 'r' | 'S';
  bytes: number;
}

const DROP_TRIES = 5;
/** The code of PostgreSQL's error for a deadlock. */
const DEADLOCK = '40P01';

/**
 * A schema of PostgreSQL, and a connection that works in it. All migrations take longer than most
 * tests, so one that a test has not changed is made as new, and goes to the next by another name:
 * what is still at work for the test before does not find it.
 */
export class PostgresSchema {
  #name = '';
  /** Its shape once it was migrated, and the statements that put the rows of migrations back. */
  #migrated: { shape: string; restore: string } | undefined;

  constructor(readonly client: pg.Client) {}

  async create(name: string): Promise<void> {
    this.#name = name;
    await this.client.query(`create schema ${name}`);
  }

  async rename(name: string): Promise<void> {
    await this.client.query(this.#renaming(name));
    this.#name = name;
  }

  async migrate(url: string): Promise<void> {
    if (this.#migrated) return;
    await migrateSchema(this.client, url);
    this.#migrated = { shape: await this.#shape(), restore: await this.#restore() };
  }

  /** Makes it as it was once it was migrated; false where another schema is needed instead. */
  async isMadeNew(): Promise<boolean> {
    if (!this.#migrated || (await this.#shape()) !== this.#migrated.shape) return false;
    const relations = await this.#relations();
    if (relations.some(({ bytes }) => bytes > MAX_BYTES)) return false;
    const filled = relations.filter(({ kind, bytes }) => kind === 'r' && bytes > 0);
    const deletes = filled.map(({ name }) => `delete from ${name}`);
    const without_triggers = 'set local session_replication_role = replica';
    // By another name, for what waits for the locks, such as a statement of a killed process.
    const name = `${this.#name}_spare`;
    const tables = relations.filter(({ kind }) => kind === 'r').map((one) => one.name);
    const statements = [
      'begin',
      without_triggers,
      `lock table ${tables.join(', ')}`,
      ...deletes,
      this.#migrated.restore,
      this.#renaming(name),
      'commit',
    ];
    try {
      await this.client.query(statements.join('; '));
      this.#name = name;
      return true;
    } catch {
      await this.client.query('rollback');
      return false;
    }
  }

  async drop(): Promise<void> {
    // What a gateway began before it was closed may hold locks for another moment.
    for (let left = DROP_TRIES; left > 0; left -= 1) {
      try {
        await this.client.query(`drop schema ${this.#name} cascade`);
        break;
      } catch (error) {
        if ((error as { code?: unknown }).code !== DEADLOCK || left === 1) throw error;
      }
    }
    await this.client.end();
  }

  #renaming(name: string): string {
    return (
      `alter schema ${this.#name} rename to ${name}; set search_path = ${name}; ` +
      `set application_name = '${name.slice(0, 40)}'`
    );
  }

  async #shape(): Promise<string> {
    const { rows } = await this.client.query<{ shape: string }>(SHAPE);
    return rows[0]?.shape ?? '';
  }

  async #relations(): Promise<Relation[]> {
    return (await this.client.query<Relation>(RELATIONS)).rows;
  }

  async #restore(): Promise<string> {
    const statements: string[] = [];
    for (const { name, kind, bytes } of await this.#relations()) {
      if (kind === 'S') {
        const { rows } = await this.client.query<{ last: string; called: boolean }>(
          `select last_value as last, is_called as called from ${name}`,
        );
        statements.push(
          ...rows.map((row) => `select setval('${name}', ${row.last}, ${row.called})`),
        );
      } else if (bytes > 0) {
        const { rows } = await this.client.query<{ all: string }>(
          `select json_agg(one)::text as all from ${name} as one`,
        );
        const all = this.client.escapeLiteral(rows[0]?.all ?? '[]');
        statements.push(
          `insert into ${name} overriding system value ` +
            `select * from json_populate_recordset(null::${name}, ${all})`,
        );
      }
    }
    return statements.join('; ');
  }
}
