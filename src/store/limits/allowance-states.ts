import type { Knex } from 'knex';
import { isCalendarWindow, windowDurationMs, type AllowanceState } from '../../core/limits.js';
import type { AllowanceOwner, AllowanceRow } from './allowances.js';
import { extraAt, openWindow } from './hold-windows.js';
import type { ZoneCalendar } from './zone-calendar.js';

/** The allowances of these owners at this time, the shortest window first. */
export async function readAllowances(
  knex: Knex,
  owner_kind: AllowanceOwner,
  owner_ids: readonly string[],
  { now_ms, calendar }: { now_ms: number; calendar: ZoneCalendar },
): Promise<Map<string, AllowanceState[]>> {
  const rows: AllowanceRow[] = await knex('allowances')
    .where({ owner_kind })
    .whereIn('owner_id', owner_ids)
    .orderBy('id');
  const states = new Map<string, AllowanceState[]>();
  for (const row of rows) {
    const found = states.get(row.owner_id) ?? [];
    states.set(row.owner_id, [...found, stateOfRow(row, now_ms, calendar)]);
  }
  for (const found of states.values()) found.sort((one, other) => lengthOf(one) - lengthOf(other));
  return states;
}

/** What a row says at this time: the window in which the next hold would count. */
function stateOfRow(row: AllowanceRow, now_ms: number, calendar: ZoneCalendar): AllowanceState {
  const { window_name: window, amount_nano } = row;
  const extra_nano = extraAt(row, now_ms);
  const { spent_nano, held_nano, begins_ms, ends_ms } = openWindow(row, now_ms, calendar);
  // A window of a duration begins only with that hold.
  const isBegun = isCalendarWindow(window) || row.ends_ms > now_ms;
  return {
    window,
    amount_nano,
    extra_nano,
    extra_until_ms: extra_nano === 0n ? null : Number(row.extra_until_ms),
    spent_nano,
    held_nano,
    begins_ms: isBegun ? Number(begins_ms) : 0,
    ends_ms: isBegun ? Number(ends_ms) : 0,
  };
}

const DAY_MS = 86_400_000;
const CALENDAR_MS = { day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS } as const;

function lengthOf({ window }: AllowanceState): number {
  return isCalendarWindow(window) ? CALENDAR_MS[window] : (windowDurationMs(window) ?? 0);
}
