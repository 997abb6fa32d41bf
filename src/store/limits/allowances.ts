import type { Knex } from 'knex';
import {
  isAllowanceWindow,
  perWindow,
  isCalendarWindow,
  sameWindows,
  WINDOW_WORDS,
  windowDurationMs,
  type AllowanceRaise,
  type AllowanceWindow,
} from '../../core/limits.js';
import { formatDollars } from '../../lib/money.js';
import { fitsColumn, toBinding } from '../column-values.js';
import { StoreError } from '../store-error.js';

/** The owner of allowances. */
export type AllowanceOwner = 'account' | 'key';

/** A change of the allowances of one owner. */
export interface AllowanceChange {
  /** The amount that each window has from now on; null takes the allowance away. */
  amounts?: Readonly<Partial<Record<AllowanceWindow, bigint | null>>>;
  /** A temporary increase, which replaces an earlier one; an amount of 0 ends it. */
  raise?: AllowanceRaise;
}

/** A row of `allowances`. */
export interface AllowanceRow {
  id: bigint;
  owner_kind: AllowanceOwner;
  owner_id: string;
  window_name: AllowanceWindow;
  /** The duration of a window that begins with the first call; null for one of the calendar. */
  window_ms: bigint | null;
  amount_nano: bigint;
  extra_nano: bigint;
  extra_until_ms: bigint | null;
  /** The window in which `spent_nano` and `held_nano` count; 0 before the first call. */
  begins_ms: bigint;
  ends_ms: bigint;
  spent_nano: bigint;
  held_nano: bigint;
}

/** The columns of a row. `*` would break a prepared statement once a newer version adds one. */
export const ALLOWANCE_LIST = `id, owner_kind, owner_id, window_name, window_ms, amount_nano,
  extra_nano, extra_until_ms, begins_ms, ends_ms, spent_nano, held_nano`;

/**
 * An ID is never given twice, so that a hold does not count in an allowance that was taken away and
 * set again. A hold and a task name the windows in which they count.
 */
export async function createAllowances(trx: Knex): Promise<void> {
  await trx.schema.createTable('allowances', (table) => {
    table.bigIncrements('id');
    table.text('owner_kind').notNullable();
    table.text('owner_id').notNullable();
    table.text('window_name').notNullable();
    table.bigInteger('window_ms');
    table.bigInteger('amount_nano').notNullable();
    table.bigInteger('extra_nano').notNullable().defaultTo(0);
    table.bigInteger('extra_until_ms');
    table.bigInteger('begins_ms').notNullable().defaultTo(0);
    table.bigInteger('ends_ms').notNullable().defaultTo(0);
    table.bigInteger('spent_nano').notNullable().defaultTo(0);
    table.bigInteger('held_nano').notNullable().defaultTo(0);
    table.unique(['owner_kind', 'owner_id', 'window_name']);
  });
  for (const holder of ['holds', 'tasks']) {
    await trx.schema.alterTable(holder, (table) => {
      table.text('windows');
    });
  }
}

/** The owner whose allowances change, and the limit for life of a key that has one. */
interface ChangedOwner {
  owner_kind: AllowanceOwner;
  owner_id: string;
  limit_nano?: bigint | null;
}

/** What the audit log says of a change of allowances. */
interface AllowanceAudit {
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/**
 * Sets, changes and takes away allowances. What is spent and held in a window stays; a new
 * allowance counts from now on. Resolves with the values for the audit row of the change, undefined
 * if nothing changed. Throws `StoreError` for a wrong window or amount.
 *
 * Within its transaction, call it after a write to `keys` and before one to `accounts`: that is the
 * order in which holds and charges lock rows, which excludes deadlocks.
 */
export async function writeAllowances(
  trx: Knex.Transaction,
  owner: ChangedOwner,
  { amounts = {}, raise }: AllowanceChange,
  now_ms: number,
): Promise<AllowanceAudit | undefined> {
  const { owner_kind, owner_id } = owner;
  const rows: AllowanceRow[] = await trx('allowances')
    .where({ owner_kind, owner_id })
    .orderBy('id')
    .forUpdate();
  const before = new Map(rows.map((row) => [row.window_name, row.amount_nano]));
  const after = new Map(before);
  for (const [window, amount_nano] of Object.entries(amounts)) {
    if (!isAllowanceWindow(window)) throw unknownWindow(window);
    if (amount_nano === undefined) continue;
    if (amount_nano === null) after.delete(window);
    else after.set(window, amount_nano);
  }
  checkAllowances(after, owner.limit_nano ?? null);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (window) => before.get(window) !== after.get(window),
  );
  for (const window of changed) await setAmount(trx, owner, window, after.get(window));
  const raised = raise && (await setRaise(trx, owner, { raise, after, now_ms }));
  if (changed.length === 0 && !raise) return undefined;
  return {
    before: { allowances: textsOf(before, changed) },
    after: { allowances: textsOf(after, changed), ...raised },
  };
}

/** The amounts of these windows in dollars; null where there is no allowance. */
function textsOf(
  amounts: ReadonlyMap<AllowanceWindow, bigint>,
  windows: readonly AllowanceWindow[],
): Record<string, string | null> {
  return Object.fromEntries(
    windows.map((window) => {
      const amount_nano = amounts.get(window);
      return [window, amount_nano === undefined ? null : formatDollars(amount_nano)];
    }),
  );
}

async function setAmount(
  trx: Knex.Transaction,
  { owner_kind, owner_id }: ChangedOwner,
  window: AllowanceWindow,
  amount_nano: bigint | undefined,
): Promise<void> {
  const place = { owner_kind, owner_id, window_name: window };
  if (amount_nano === undefined) {
    await trx('allowances').where(place).delete();
    return;
  }
  await trx('allowances')
    .insert({
      ...place,
      window_ms: windowDurationMs(window),
      amount_nano: toBinding(amount_nano),
    })
    .onConflict(['owner_kind', 'owner_id', 'window_name'])
    .merge(['amount_nano']);
}

interface Raising {
  raise: AllowanceRaise;
  after: ReadonlyMap<AllowanceWindow, bigint>;
  now_ms: number;
}

async function setRaise(
  trx: Knex.Transaction,
  { owner_kind, owner_id }: ChangedOwner,
  { raise: { window, by_nano, until_ms }, after, now_ms }: Raising,
): Promise<Record<string, unknown>> {
  const amount_nano = after.get(window);
  if (amount_nano === undefined) throw noWindow(window, [...after.keys()]);
  if (by_nano < 0n) throw new StoreError('A temporary increase cannot be below zero.');
  if (!fitsColumn(amount_nano + by_nano)) {
    throw new StoreError('The allowance with its increase is more than a balance can hold.');
  }
  const isEnd = by_nano === 0n;
  if (!isEnd && !(Number.isSafeInteger(until_ms) && until_ms > now_ms)) {
    throw new StoreError('A temporary increase must end later than now.');
  }
  await trx('allowances')
    .where({ owner_kind, owner_id, window_name: window })
    .update({ extra_nano: toBinding(by_nano), extra_until_ms: isEnd ? null : until_ms });
  if (isEnd) return { raised: { window, by: formatDollars(0n) } };
  return {
    raised: { window, by: formatDollars(by_nano), until: new Date(until_ms).toISOString() },
  };
}

function checkAllowances(
  amounts: ReadonlyMap<AllowanceWindow, bigint>,
  limit_nano: bigint | null,
): void {
  const [one, other] = sameWindows([...amounts.keys()]) ?? [];
  if (one !== undefined && other !== undefined) {
    throw new StoreError(`The windows ${one} and ${other} have one length: set one of them.`);
  }
  for (const [window, amount_nano] of amounts) {
    if (amount_nano <= 0n || !fitsColumn(amount_nano)) {
      throw new StoreError(
        `An allowance must be above zero, and fit a balance; ${nameOfWindow(window)} has ` +
          `${formatDollars(amount_nano)}.`,
      );
    }
    if (limit_nano === null || amount_nano <= limit_nano) continue;
    throw new StoreError(
      `The allowance of ${formatDollars(amount_nano)} dollars ${perWindow(window)} is above the ` +
        `${formatDollars(limit_nano)} that the key may spend in its life: it would never count.`,
    );
  }
}

function unknownWindow(window: string): StoreError {
  return new StoreError(`"${window}" is no window of an allowance: write ${WINDOW_WORDS}.`);
}

function noWindow(window: AllowanceWindow, windows: readonly AllowanceWindow[]): StoreError {
  const known = windows.length === 0 ? 'it has none' : `it has ${windows.join(', ')}`;
  return new StoreError(`There is no allowance ${perWindow(window)} to increase: ${known}.`);
}

/** A window as part of a sentence: `the day`, `5h`. */
function nameOfWindow(window: AllowanceWindow): string {
  return isCalendarWindow(window) ? `the ${window}` : window;
}
