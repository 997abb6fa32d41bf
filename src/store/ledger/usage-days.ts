import type { Knex } from 'knex';
import { NANO_PER_DOLLAR } from '../../lib/money.js';
import { TOKEN_CLASSES } from '../../core/usage.js';
import type { Database } from '../database.js';

type Dialect = Database['dialect'];

export const DAY_MS = 86_400_000;

/** The units in the JSON of `usage`. The classes of tokens have columns. */
const UNITS = ['prompt_tokens', 'completion_tokens', 'images', 'video_seconds'] as const;
export const COUNTS = [...UNITS, ...TOKEN_CLASSES];

/** The amounts of an entry in SQL; null where an entry has none, or it is not known. */
const AMOUNTS = {
  amount: 'amount_nano',
  cost: 'cost_nano',
  profit: '(-amount_nano - cost_nano)',
  saved: 'saved_nano',
  lost: 'lost_nano',
} as const;

export type Amount = keyof typeof AMOUNTS;

/** Sums are floats: an absurdly large sum is then inexact, and not an error. */
export const unitIn: Record<Dialect, (name: string) => string> = {
  sqlite: (name) => `total(json_extract(usage, '$.${name}')) as ${name}`,
  postgres: (name) => `coalesce(sum((usage::json ->> '${name}')::double precision), 0) as ${name}`,
};

export const sumIn: Record<Dialect, (name: string) => string> = {
  sqlite: (name) => `total(${name}) as ${name}`,
  postgres: (name) => `coalesce(sum(${name}::double precision), 0) as ${name}`,
};

/** A sum of amounts is kept in whole dollars and the rest, as it could exceed 64 bits. */
const PARTS = { dollars: '/', rest: '%' } as const;
const PART_NAMES = Object.keys(AMOUNTS).flatMap((name) =>
  Object.keys(PARTS).map((part) => `${name}_${part}`),
);

/** What day, model, key and agent of an account split. An entry without one of them has ''. */
export const SPLIT = ['day_ms', 'model', 'key_id', 'agent'] as const;
export type UsageSplit = (typeof SPLIT)[number];
const KEY = ['account_id', ...SPLIT].join(', ');
const FIGURES = ['calls', ...PART_NAMES, ...COUNTS];

/** The usage of many entries: a row of `usage_days`, or what the newest entries add to one. */
export type UsageSum = Record<(typeof COUNTS)[number], number> &
  Record<`${Amount}_${keyof typeof PARTS}`, bigint> & {
    day_ms: bigint;
    model: string;
    key_id: string;
    agent: string;
    calls: bigint;
  };

/** The columns by which entries are summed, and their sums. */
const COLUMNS = (dialect: Dialect): string[] => [
  `created_ms - created_ms % ${DAY_MS} as day_ms`,
  ...SPLIT.slice(1).map((name) => `coalesce(${name}, '') as ${name}`),
  `sum(case when kind = 'charge' then 1 else 0 end) as calls`,
  ...Object.entries(AMOUNTS).flatMap(([name, sql]) =>
    Object.entries(PARTS).map(
      ([part, sign]) =>
        `cast(coalesce(sum(${sql} ${sign} ${NANO_PER_DOLLAR}), 0) as bigint) as ${name}_${part}`,
    ),
  ),
  ...UNITS.map(unitIn[dialect]),
  ...TOKEN_CLASSES.map(sumIn[dialect]),
];

/** Adds entries to `usage_days`. `from` and `to` are SQL for their IDs: above one, up to other. */
export const ROLL_UP_USAGE = (dialect: Dialect, from: string, to: string): string => `
  insert into usage_days (${KEY}, ${FIGURES.join(', ')})
  select account_id, ${COLUMNS(dialect).join(', ')} from ledger
  where id > ${from} and id <= ${to} and kind <> 'credit'
  group by 1, 2, 3, 4, 5
  on conflict (${KEY}) do update set
    ${FIGURES.map((name) => `${name} = usage_days.${name} + excluded.${name}`).join(', ')}`;

const KEPT_SUMS = [
  ...['calls', ...PART_NAMES].map((name) => `cast(sum(${name}) as bigint) as ${name}`),
  ...COUNTS.map((name) => `sum(${name}) as ${name}`),
];

/** The kept sums of an account's days, only split by these, and the last entry that is in them. */
export async function keptSums(
  trx: Knex,
  account_id: string,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
  split: readonly UsageSplit[],
): Promise<{ sums: UsageSum[]; upto: bigint }> {
  const sums: UsageSum[] = await trx('usage_days')
    .where({ account_id })
    .where('day_ms', '>', from_ms - DAY_MS)
    .where('day_ms', '<', to_ms)
    .groupBy([...split])
    .select([...split, ...KEPT_SUMS.map((sql) => trx.raw(sql))]);
  const mark: { ledger_id: bigint } | undefined = await trx('request_roll_up').first('ledger_id');
  return { sums, upto: mark?.ledger_id ?? 0n };
}

/** The sums of entries, which the caller has selected. */
export function sumsOfEntries(
  knex: Knex,
  dialect: Dialect,
  entries: Knex.QueryBuilder,
): Promise<UsageSum[]> {
  return entries
    .whereNot({ kind: 'credit' })
    .groupByRaw('1, 2, 3, 4')
    .select(COLUMNS(dialect).map((sql) => knex.raw(sql)));
}
