import { noAccount } from '../store-error.js';
import { ADMITTED, refusalOf, refusalOfWindows, type HoldCommand } from '../hot-path.js';
import type { AllowanceRow } from '../limits/allowances.js';
import { openWindow, type OpenWindow } from '../limits/hold-windows.js';
import type { ZoneCalendar } from '../limits/zone-calendar.js';
import type { HoldRefusal, HoldResult } from '../store-types.js';
import type { KeyedBatch } from './keyed-batcher.js';
import { MAX_NANO } from '../column-values.js';
import { isDataError, type PostgresSession } from './postgres-session.js';

/** How often a hold is tried, as other calls take and release holds meanwhile. */
const MAX_TRIES = 4;

/** Takes holds on PostgreSQL: one statement for one hold, or for many of one account and key. */
export class PostgresHolds implements KeyedBatch<HoldCommand, HoldResult> {
  constructor(
    private readonly session: PostgresSession,
    private readonly calendar: ZoneCalendar,
  ) {}

  /** Again where the refusal has gone by the time that its figures are read. */
  async runOne(command: HoldCommand): Promise<HoldResult> {
    for (let tries = 1; ; tries += 1) {
      const result = await this.#tryOne(command);
      if (result.admitted || result.because !== 'balance' || tries === MAX_TRIES) return result;
      if (result.balance_nano - result.held_nano < command.amount_nano) return result;
    }
  }

  async #tryOne({ request_id, account_id, amount_nano, key_id }: HoldCommand): Promise<HoldResult> {
    const { session } = this;
    const now_ms = session.now();
    const values = [request_id, account_id, amount_nano, session.process_id, now_ms, key_id];
    values.push(this.#spans(now_ms));
    const taken = amount_nano <= MAX_NANO ? await this.#take('hold', values) : undefined;
    if (taken) return taken;
    const payer = [account_id, key_id];
    const { rows } = await session.run<Figures>('figures', payer);
    const figures = rows[0];
    if (!figures) throw noAccount(account_id);
    const allowances = await session.run<TextRow<AllowanceRow>>('allowances', payer);
    const windows = allowances.rows.map((row) =>
      openWindow(allowanceIn(row), now_ms, this.calendar),
    );
    return refusalIn(figures, { amount_nano, now_ms, windows });
  }

  /** Admits the holds together if the account and the key allow their sum. */
  async runBatch(commands: readonly HoldCommand[]): Promise<HoldResult[] | undefined> {
    const { session } = this;
    const { account_id, key_id } = commands[0] ?? {};
    const requests = commands.map(({ request_id }) => request_id);
    const amounts = commands.map(({ amount_nano }) => amount_nano);
    const sum_nano = amounts.reduce((sum, amount_nano) => sum + amount_nano, 0n);
    if (sum_nano > MAX_NANO) return undefined;
    const now_ms = session.now();
    const values: unknown[] = [requests, account_id, sum_nano, session.process_id, now_ms, key_id];
    values.push(this.#spans(now_ms), amounts);
    try {
      const taken = await this.#take('holdAll', values);
      return taken && commands.map(() => taken);
    } catch (error) {
      if (isDataError(error)) return undefined;
      throw error;
    }
  }

  async #take(name: 'hold' | 'holdAll', values: unknown[]): Promise<HoldResult | undefined> {
    const { session } = this;
    const { rows } = await session.ensureRegistered(() =>
      session.run<{ windows: string | null }>(name, values),
    );
    const [row] = rows;
    if (!row) return undefined;
    return row.windows === null ? ADMITTED : { admitted: true, windows: row.windows };
  }

  /** The calendar windows of now, as the statements take them. */
  #spans(now_ms: number): string {
    const { day, week, month } = this.calendar.spansAt(now_ms);
    return (
      `{"day":[${day.begins_ms},${day.ends_ms}],"week":[${week.begins_ms},${week.ends_ms}],` +
      `"month":[${month.begins_ms},${month.ends_ms}]}`
    );
  }
}

/** A row whose big integers are read as text. */
type TextRow<Row> = { [C in keyof Row]: bigint extends Row[C] ? string : Row[C] };

function allowanceIn(row: TextRow<AllowanceRow>): AllowanceRow {
  const { window_ms, extra_until_ms } = row;
  return {
    ...row,
    id: BigInt(row.id),
    window_ms: window_ms === null ? null : BigInt(window_ms),
    amount_nano: BigInt(row.amount_nano),
    extra_nano: BigInt(row.extra_nano),
    extra_until_ms: extra_until_ms === null ? null : BigInt(extra_until_ms),
    begins_ms: BigInt(row.begins_ms),
    ends_ms: BigInt(row.ends_ms),
    spent_nano: BigInt(row.spent_nano),
    held_nano: BigInt(row.held_nano),
  };
}

/** Columns of the account and, if it exists, of the key. */
interface Figures {
  balance_nano: string;
  held_nano: string;
  suspended_ms: string | null;
  key_id: string | null;
  limit_nano: string | null;
  spent_nano: string | null;
  key_held_nano: string | null;
  revoked_ms: string | null;
  expires_ms: string | null;
}

interface RefusedHold {
  amount_nano: bigint;
  now_ms: number;
  windows: readonly OpenWindow[];
}

/**
 * Blames the account if the key and the windows allow the hold: all may have changed since the
 * refusal.
 */
function refusalIn(figures: Figures, { amount_nano, now_ms, windows }: RefusedHold): HoldRefusal {
  const { key_id, limit_nano, revoked_ms, expires_ms } = figures;
  const terms = {
    limit_nano: limit_nano === null ? null : BigInt(limit_nano),
    spent_nano: BigInt(figures.spent_nano ?? 0),
    held_nano: BigInt(figures.key_held_nano ?? 0),
    revoked_ms: revoked_ms === null ? null : BigInt(revoked_ms),
    expires_ms: expires_ms === null ? null : BigInt(expires_ms),
  };
  const refusal = key_id === null ? undefined : refusalOf(terms, amount_nano, now_ms);
  if (refusal) return refusal;
  const { balance_nano, held_nano, suspended_ms } = figures;
  if (suspended_ms !== null) return { admitted: false, because: 'suspended' };
  const full = refusalOfWindows(windows, amount_nano);
  if (full) return full;
  return {
    admitted: false,
    because: 'balance',
    balance_nano: BigInt(balance_nano),
    held_nano: BigInt(held_nano),
  };
}
