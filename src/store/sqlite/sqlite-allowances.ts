import type Sqlite from 'better-sqlite3';
import {
  openWindow,
  textOfWindows,
  windowsInText,
  type OpenWindow,
} from '../limits/hold-windows.js';
import type { ZoneCalendar } from '../limits/zone-calendar.js';
import { prepareAllowances } from './sqlite-statements.js';

/** Counts holds and charges in the windows of allowances, within the group commit. */
export class SqliteAllowances {
  readonly #statements: ReturnType<typeof prepareAllowances>;

  constructor(
    database: Sqlite.Database,
    private readonly calendar: ZoneCalendar,
  ) {
    this.#statements = prepareAllowances(database);
  }

  /** The windows of the account and its key at this time, in the order of their IDs. */
  windowsOf(account_id: string, key_id: string | null, now_ms: number): OpenWindow[] {
    const rows = this.#statements.rows.all(account_id, key_id);
    return rows.map((row) => openWindow(row, now_ms, this.calendar));
  }

  /** Counts a hold, and returns the windows for its column. */
  hold(windows: readonly OpenWindow[], amount_nano: bigint): string | null {
    for (const { id, begins_ms, ends_ms, spent_nano, held_nano } of windows) {
      this.#statements.hold.run(begins_ms, ends_ms, spent_nano, held_nano + amount_nano, id);
    }
    return textOfWindows(windows);
  }

  /** The least that the windows of a hold have left beside all holds; undefined without windows. */
  left(text: string | null, now_ms: number): bigint | undefined {
    return windowsInText(text)
      .map(({ id, begins_ms }) => this.#statements.left.get(now_ms, id, begins_ms))
      .reduce(
        (least, nano) => (nano === undefined || (least ?? nano) < nano ? least : nano),
        undefined,
      );
  }

  /** Ends holds of the same windows. A window that has ended meanwhile is left as it is. */
  end(text: string, { spent_nano, freed_nano }: { spent_nano: bigint; freed_nano: bigint }): void {
    for (const { id, begins_ms } of windowsInText(text)) {
      this.#statements.end.run(spent_nano, freed_nano, id, begins_ms);
    }
  }
}
