import type { Knex } from 'knex';

const TABLE = 'store_contract';

/** Adds the number of the last migration that a program must know to serve the store. */
export async function createContract(trx: Knex): Promise<void> {
  await trx.schema.createTable(TABLE, (table) => {
    table.integer('id').notNullable().primary();
    table.integer('lowest').notNullable();
  });
  await trx(TABLE).insert({ id: 1, lowest: 0 });
}

/** Programs that know fewer migrations may not serve the store from now on. */
export async function raiseContract(trx: Knex, lowest: number): Promise<void> {
  if ((await contractOf(trx)) === undefined) return;
  await trx(TABLE).where('lowest', '<', lowest).update({ lowest });
}

/** The number of the last migration that a program must know; undefined in older stores. */
export async function contractOf(knex: Knex): Promise<number | undefined> {
  if (!(await knex.schema.hasTable(TABLE))) return undefined;
  return lowestIn(knex);
}

async function lowestIn(knex: Knex): Promise<number> {
  const row: { lowest: bigint | number } | undefined = await knex(TABLE).first('lowest');
  return Number(row?.lowest ?? 0);
}

/** Why a program that knows so many migrations may not serve the store; undefined if it may. */
export async function contractFault(knex: Knex, known: number): Promise<string | undefined> {
  const lowest = await lowestIn(knex);
  if (lowest <= known) return undefined;
  return (
    'The store is of a newer version of Tollgate: a program that serves it must know its ' +
    `migration ${lowest}, and this version knows those up to ${known}; ` +
    'install the version that migrated it, or a newer one.'
  );
}
