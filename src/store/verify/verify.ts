import type { Knex } from 'knex';
import { formatDollars, NANO_PER_DOLLAR } from '../../lib/money.js';
import type { AccountRow } from '../accounts/accounts.js';
import type { Database } from '../database.js';
import type { AllowanceRow } from '../limits/allowances.js';
import { sumsByWindow, type CountedWindow } from '../limits/hold-windows.js';
import { faultsOfRefunds } from './verify-refunds.js';
import { faultsOfUsage } from './verify-usage.js';

/** The result of `verify`. `faults` has one sentence for each figure that does not add up. */
export interface VerifyReport {
  accounts: number;
  entries: number;
  open_holds: number;
  faults: string[];
}

/** Recomputes all sums on one snapshot of the database, also while `serve` runs. */
export async function verify(database: Database): Promise<VerifyReport> {
  return database.snapshot(verifyWithin);
}

/** The same within a transaction, which also sees what it has written itself. */
export async function verifyWithin(trx: Knex.Transaction): Promise<VerifyReport> {
  const report = await balances(trx);
  const faults = [
    ...report.faults,
    ...(await wrongSigns(trx)),
    ...(await wrongUncollected(trx)),
    ...(await wrongSavings(trx)),
    ...(await wrongCosts(trx)),
    ...(await duplicates(trx)),
    ...(await faultsOfRefunds(trx)),
    ...(await faultsOfUsage(trx)),
    ...(await faultsOfKeys(trx)),
    ...(await faultsOfAllowances(trx)),
    ...(await faultsOfTasks(trx)),
  ];
  return { ...report, faults };
}

/** The part of `verify` that works on a store of any version: balances, ledger and holds. */
export async function verifyBalances(database: Database): Promise<VerifyReport> {
  return database.snapshot(balances);
}

async function balances(trx: Knex.Transaction): Promise<VerifyReport> {
  const accounts: AccountRow[] = await trx('accounts').orderBy(['created_ms', 'name']);
  const entries = await sumsOf(trx, trx('ledger'));
  const holds = await sumsOf(trx, trx('holds'));
  const tasks = (await trx.schema.hasTable('tasks'))
    ? await sumsOf(trx, trx('tasks').whereNot('hold_nano', 0), { amount: 'hold_nano' })
    : new Map<string, Sum>();
  const known = new Set(accounts.map(({ id }) => id));
  return {
    accounts: accounts.length,
    entries: countOf(entries),
    open_holds: countOf(holds) + countOf(tasks),
    faults: [
      ...accounts.flatMap((account) => faultsOfAccount(account, entries, [holds, tasks])),
      ...orphans('Ledger entries', entries, known),
      ...orphans('Holds', holds, known),
      ...orphans('Holds of tasks', tasks, known),
    ],
  };
}

function countOf(sums: ReadonlyMap<string, Sum>): number {
  return [...sums.values()].reduce((count, { rows }) => count + Number(rows), 0);
}

function faultsOfAccount(
  { id, balance_nano, held_nano }: AccountRow,
  entries: ReadonlyMap<string, Sum>,
  holds: readonly ReadonlyMap<string, Sum>[],
): string[] {
  const faults: string[] = [];
  const earned_nano = total_nano(entries.get(id));
  if (balance_nano !== earned_nano) {
    faults.push(
      `Account ${id} has a balance of ${formatDollars(balance_nano)} dollars, ` +
        `but its ledger adds up to ${formatDollars(earned_nano)}.`,
    );
  }
  const open_nano = holds.reduce((sum, sums) => sum + total_nano(sums.get(id)), 0n);
  if (held_nano !== open_nano) {
    faults.push(
      `Account ${id} has ${formatDollars(held_nano)} dollars held, ` +
        `but its open holds add up to ${formatDollars(open_nano)}.`,
    );
  }
  return faults;
}

function orphans(
  subject: string,
  sums: ReadonlyMap<string, Sum>,
  known: ReadonlySet<string>,
): string[] {
  return [...sums]
    .filter(([account_id]) => !known.has(account_id))
    .map(
      ([account_id, sum]) =>
        `${subject} of ${formatDollars(total_nano(sum))} dollars belong to ` +
        `account ${account_id}, which does not exist.`,
    );
}

async function wrongSigns(trx: Knex.Transaction): Promise<string[]> {
  const rows: { id: bigint; account_id: string; kind: string; amount_nano: bigint }[] = await trx(
    'ledger',
  )
    .where((row) => row.where('kind', 'charge').andWhere('amount_nano', '>', 0))
    .orWhere((row) => row.where('kind', 'credit').andWhere('amount_nano', 0))
    .orWhere((row) => row.where('kind', 'refund').andWhere('amount_nano', '<=', 0))
    .orderBy('id')
    .select('id', 'account_id', 'kind', 'amount_nano');
  return rows.map(
    ({ id, account_id, kind, amount_nano }) =>
      `Entry ${id} of account ${account_id} is a ${kind} of ` +
      `${formatDollars(amount_nano)} dollars.`,
  );
}

/** Only a charge can have an uncollected amount. */
async function wrongUncollected(trx: Knex.Transaction): Promise<string[]> {
  const rows: { id: bigint; account_id: string; kind: string; uncollected_nano: bigint }[] =
    await trx('ledger')
      .where('uncollected_nano', '<', 0)
      .orWhere((row) => row.whereNot('kind', 'charge').andWhereNot('uncollected_nano', 0))
      .orderBy('id')
      .select('id', 'account_id', 'kind', 'uncollected_nano');
  return rows.map(
    ({ id, account_id, kind, uncollected_nano }) =>
      `Entry ${id} of account ${account_id} is a ${kind} with ` +
      `${formatDollars(uncollected_nano)} dollars uncollected.`,
  );
}

/** Only a charge has what caches saved or lost, and it never lost less than nothing. */
async function wrongSavings(trx: Knex.Transaction): Promise<string[]> {
  const rows: { id: bigint; account_id: string; kind: string }[] = await trx('ledger')
    .where('lost_nano', '<', 0)
    .orWhere((row) =>
      row
        .whereNot('kind', 'charge')
        .andWhere((either) => either.whereNotNull('saved_nano').orWhereNotNull('lost_nano')),
    )
    .orderBy('id')
    .select('id', 'account_id', 'kind');
  return rows.map(
    ({ id, account_id, kind }) =>
      `Entry ${id} of account ${account_id} is a ${kind} that cannot have saved or lost so much.`,
  );
}

/** An upstream takes nothing for a credit, and gives nothing back for a refund. */
async function wrongCosts(trx: Knex.Transaction): Promise<string[]> {
  const rows: { id: bigint; account_id: string; kind: string; cost_nano: bigint }[] = await trx(
    'ledger',
  )
    .where('cost_nano', '<', 0)
    .orWhere((row) => row.where('kind', 'credit').whereNotNull('cost_nano'))
    .orWhere((row) => row.where('kind', 'refund').whereNot('cost_nano', 0))
    .orderBy('id')
    .select('id', 'account_id', 'kind', 'cost_nano');
  return rows.map(
    ({ id, account_id, kind, cost_nano }) =>
      `Entry ${id} of account ${account_id} is a ${kind} for which an upstream took ` +
      `${formatDollars(cost_nano)} dollars.`,
  );
}

/** Finds entries that the unique key of the table forbids, in case someone dropped the key. */
async function duplicates(trx: Knex.Transaction): Promise<string[]> {
  const columns = ['account_id', 'kind', 'reference'];
  const rows: { account_id: string; kind: string; reference: string; times: bigint }[] = await trx(
    'ledger',
  )
    .groupBy(columns)
    .having(trx.raw('count(*) > 1'))
    .select(...columns, trx.raw('count(*) as times'));
  return rows.map(
    ({ account_id, kind, reference, times }) =>
      `Account ${account_id} has ${times} entries for the ${kind} "${reference}".`,
  );
}

interface KeyRow {
  id: string;
  limit_nano: bigint | null;
  held_nano: bigint;
  spent_nano: bigint;
}

/** A key with a limit counts what it holds and has spent; one without counts nothing. */
async function faultsOfKeys(trx: Knex.Transaction): Promise<string[]> {
  const keys: KeyRow[] = await trx('keys')
    .whereNotNull('limit_nano')
    .orWhere('held_nano', '<>', 0)
    .orWhere('spent_nano', '<>', 0)
    .orderBy('id')
    .select('id', 'limit_nano', 'held_nano', 'spent_nano');
  const limited = trx('keys').whereNotNull('limit_nano').select('id');
  const owner = 'key_id';
  const spent = await sumsOf(
    trx,
    trx('ledger').whereNot('kind', 'credit').whereIn(owner, limited.clone()),
    { owner },
  );
  const holds = await sumsOf(trx, trx('holds').whereNotNull(owner), { owner });
  const tasks = await sumsOf(
    trx,
    trx('tasks').whereNot('hold_nano', 0).whereIn(owner, limited.clone()),
    { owner, amount: 'hold_nano' },
  );
  const faults = keys.flatMap((key) => {
    const open_nano = total_nano(holds.get(key.id)) + total_nano(tasks.get(key.id));
    return faultsOfKey(key, { spent_nano: -total_nano(spent.get(key.id)), open_nano });
  });
  const known = new Set(keys.map(({ id }) => id));
  const orphans = [...holds]
    .filter(([key_id]) => !known.has(key_id))
    .map(
      ([key_id, sum]) =>
        `Holds of ${formatDollars(total_nano(sum))} dollars are counted for key ${key_id}, ` +
        'which has no limit.',
    );
  return [...faults, ...orphans];
}

function faultsOfKey(
  { id, limit_nano, held_nano, spent_nano }: KeyRow,
  sums: { spent_nano: bigint; open_nano: bigint },
): string[] {
  if (limit_nano === null) return [`Key ${id} has no limit, but counts what it spends.`];
  const faults: string[] = [];
  if (spent_nano !== sums.spent_nano) {
    faults.push(
      `Key ${id} has spent ${formatDollars(spent_nano)} dollars, ` +
        `but its charges add up to ${formatDollars(sums.spent_nano)}.`,
    );
  }
  if (held_nano !== sums.open_nano) {
    faults.push(
      `Key ${id} has ${formatDollars(held_nano)} dollars held, ` +
        `but its open holds add up to ${formatDollars(sums.open_nano)}.`,
    );
  }
  return faults;
}

/** Each window holds what the open holds and tasks hold that name it. */
async function faultsOfAllowances(trx: Knex.Transaction): Promise<string[]> {
  const rows: AllowanceRow[] = await trx('allowances').orderBy('id');
  if (rows.length === 0) return [];
  const owner = 'windows';
  const open = [
    await sumsOf(trx, trx('holds').whereNotNull(owner), { owner }),
    await sumsOf(trx, trx('tasks').whereNotNull(owner).whereNot('hold_nano', 0), {
      owner,
      amount: 'hold_nano',
    }),
  ].flatMap((sums) => [...sums.values()]);
  const ended = open.map((sum) => {
    return { windows: sum.owner, spent_nano: 0n, freed_nano: total_nano(sum) };
  });
  const sums = new Map(sumsByWindow(ended).map((sum) => [nameOfCounted(sum), sum.freed_nano]));
  return rows.flatMap((row) => {
    const open_nano = sums.get(nameOfCounted(row)) ?? 0n;
    if (row.held_nano === open_nano) return [];
    return [
      `The allowance ${row.window_name} of ${row.owner_kind} ${row.owner_id} has ` +
        `${formatDollars(row.held_nano)} dollars held, ` +
        `but its open holds add up to ${formatDollars(open_nano)}.`,
    ];
  });
}

function nameOfCounted({ id, begins_ms }: CountedWindow): string {
  return `${id} ${begins_ms}`;
}

interface TaskRow {
  id: string;
  status: string;
  content_id: string | null;
  hold_nano: bigint;
  charge_nano: bigint | null;
  amount_nano: bigint | null;
}

/** A task is charged exactly once if its result was fetched, else never; then it holds nothing. */
async function faultsOfTasks(trx: Knex.Transaction): Promise<string[]> {
  const rows: TaskRow[] = await trx('tasks')
    .leftJoin('ledger', (join) =>
      join
        .on('ledger.reference', 'tasks.id')
        .andOn('ledger.account_id', 'tasks.account_id')
        .andOnVal('ledger.kind', 'charge'),
    )
    .orderBy('tasks.id')
    .select('tasks.id', 'status', 'content_id', 'hold_nano', 'charge_nano', 'ledger.amount_nano');
  return rows.flatMap(faultsOfTask);
}

function faultsOfTask(row: TaskRow): string[] {
  const { id, status, content_id, hold_nano, charge_nano, amount_nano } = row;
  const faults: string[] = [];
  const owed_nano = charge_nano ?? 0n;
  const paid_nano = -(amount_nano ?? 0n);
  if (owed_nano !== paid_nano) {
    faults.push(
      `Task ${id} says that it cost ${formatDollars(owed_nano)} dollars, ` +
        `but its ledger says ${formatDollars(paid_nano)}.`,
    );
  }
  if ((content_id === null) !== (charge_nano === null)) {
    faults.push(`Task ${id} has a content ID without a charge, or a charge without one.`);
  }
  if (hold_nano !== 0n && (status === 'FAILED' || content_id !== null)) {
    faults.push(`Task ${id} has ended, but still holds ${formatDollars(hold_nano)} dollars.`);
  }
  return faults;
}

/** What the rows of one owner come to. */
interface Sum {
  owner: string;
  rows: bigint;
  dollars: bigint;
  nano: bigint;
}

/**
 * The sum of the rows by their owner. Dollars and the rest are summed apart: the sum of the whole
 * column could pass 64 bits.
 */
async function sumsOf(
  trx: Knex.Transaction,
  rows: Knex.QueryBuilder,
  { owner = 'account_id', amount = 'amount_nano' } = {},
): Promise<Map<string, Sum>> {
  const sums: Sum[] = await rows
    .groupBy(owner)
    .select(
      trx.raw(`${owner} as owner`),
      trx.raw('count(*) as "rows"'),
      trx.raw(`cast(sum(${amount} / ${NANO_PER_DOLLAR}) as bigint) as dollars`),
      trx.raw(`cast(sum(${amount} % ${NANO_PER_DOLLAR}) as bigint) as nano`),
    );
  return new Map(sums.map((sum) => [sum.owner, sum]));
}

function total_nano(sum: Sum | undefined): bigint {
  return sum ? sum.dollars * NANO_PER_DOLLAR + sum.nano : 0n;
}
