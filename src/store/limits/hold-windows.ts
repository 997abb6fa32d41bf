import type { Knex } from 'knex';
import { isCalendarWindow, type AllowanceWindow } from '../../core/limits.js';
import { toBinding } from '../column-values.js';
import type { AllowanceOwner, AllowanceRow } from './allowances.js';
import type { ZoneCalendar } from './zone-calendar.js';

/** A window of an allowance, in which a hold counts. Its begin tells it from the one before. */
export interface CountedWindow {
  id: bigint;
  begins_ms: bigint;
}

/** A window as it is at the time of a hold, with its whole amount. */
export interface OpenWindow extends CountedWindow {
  owner_kind: AllowanceOwner;
  window_name: AllowanceWindow;
  amount_nano: bigint;
  ends_ms: bigint;
  spent_nano: bigint;
  held_nano: bigint;
}

/**
 * The window of a row at this time: the one that it counts, or else a new one, which begins no
 * earlier than the last one has ended. So two clocks that differ never begin a window twice.
 */
export function openWindow(row: AllowanceRow, now_ms: number, calendar: ZoneCalendar): OpenWindow {
  const { id, owner_kind, window_name, window_ms } = row;
  const amount_nano = row.amount_nano + extraAt(row, now_ms);
  const head = { id, owner_kind, window_name, amount_nano };
  if (row.ends_ms > now_ms) {
    const { begins_ms, ends_ms, spent_nano, held_nano } = row;
    return { ...head, begins_ms, ends_ms, spent_nano, held_nano };
  }
  const next = isCalendarWindow(window_name)
    ? calendar.spansAt(now_ms)[window_name]
    : { begins_ms: now_ms, ends_ms: now_ms + Number(window_ms) };
  const begins_ms = BigInt(Math.max(next.begins_ms, Number(row.ends_ms)));
  return { ...head, begins_ms, ends_ms: BigInt(next.ends_ms), spent_nano: 0n, held_nano: 0n };
}

/** The temporary increase of an allowance at this time. */
export function extraAt({ extra_nano, extra_until_ms }: AllowanceRow, now_ms: number): bigint {
  return extra_until_ms !== null && extra_until_ms > now_ms ? extra_nano : 0n;
}

/** The windows of a hold as they stand in its column: their begins by the ID of the allowance. */
export function textOfWindows(windows: readonly CountedWindow[]): string | null {
  if (windows.length === 0) return null;
  return `{${windows.map(({ id, begins_ms }) => `"${id}":${begins_ms}`).join(',')}}`;
}

/** The windows that a column names, in the order of their IDs. */
export function windowsInText(text: string | null): CountedWindow[] {
  if (text === null) return [];
  // Keys that are numbers come in their order.
  return Object.entries(JSON.parse(text) as Record<string, number>).map(([id, begins_ms]) => ({
    id: BigInt(id),
    begins_ms: BigInt(begins_ms),
  }));
}

/** A hold that ends: what it held, and what was charged for it. */
interface EndedInWindows {
  windows: string | null;
  spent_nano: bigint;
  freed_nano: bigint;
}

/** A window with all that ends in it. */
interface WindowSum extends CountedWindow {
  spent_nano: bigint;
  freed_nano: bigint;
}

/** Sums ended holds by their windows, in the order of the IDs, in which all writers lock them. */
export function sumsByWindow(ended: readonly EndedInWindows[]): WindowSum[] {
  const sums = new Map<string, WindowSum>();
  for (const { windows, spent_nano, freed_nano } of ended) {
    for (const window of windowsInText(windows)) {
      const name = `${window.id} ${window.begins_ms}`;
      const sum = sums.get(name);
      if (sum) {
        sum.spent_nano += spent_nano;
        sum.freed_nano += freed_nano;
      } else sums.set(name, { ...window, spent_nano, freed_nano });
    }
  }
  return [...sums.values()].toSorted((one, other) => Number(one.id - other.id));
}

/**
 * Ends holds in their windows. A window that has ended meanwhile, or whose allowance was taken
 * away, is left as it is.
 */
export async function endInWindows(
  trx: Knex.Transaction,
  ended: readonly EndedInWindows[],
): Promise<void> {
  for (const { id, begins_ms, spent_nano, freed_nano } of sumsByWindow(ended)) {
    await trx('allowances')
      .where({ id: id.toString(), begins_ms: begins_ms.toString() })
      .update({
        spent_nano: trx.raw('spent_nano + ?', [toBinding(spent_nano)]),
        held_nano: trx.raw('held_nano - ?', [toBinding(freed_nano)]),
      });
  }
}
