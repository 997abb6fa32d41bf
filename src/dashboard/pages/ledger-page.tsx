import type { JSX } from 'preact';
import type { Key } from '../../store/keys/keys.js';
import type { LedgerEntry } from '../../store/ledger/ledger-columns.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { isNumber, pageOf, readCursor } from '../../actions/cursor.js';
import { LedgerTable } from './ledger-table.js';
import { Card, Empty } from './parts.js';

const ENTRIES = 50;

interface LedgerRows {
  entries: readonly LedgerEntry[];
  keys: readonly Key[];
  is_later: boolean;
  next_cursor: string | null;
}

/** The page of a ledger that the address names, newest first. */
export async function ledgerPage(
  { query: { cursor } }: DashboardContext,
  account_id: string,
  { store }: DashboardServices,
): Promise<LedgerRows> {
  const is_later = typeof cursor === 'string' && cursor !== '';
  const before = is_later ? readCursor(cursor, isNumber) : Number.MAX_SAFE_INTEGER;
  const [keys, entries] = await Promise.all([
    store.keys(account_id),
    store.ledger(account_id, { before, limit: ENTRIES + 1 }),
  ]);
  const { rows, next_cursor } = pageOf(entries, ENTRIES, ({ id }) => id);
  return { entries: rows, keys, is_later, next_cursor };
}

/** Credits, charges and refunds, with links to the older and the newest ones. */
export function LedgerPage(
  props: LedgerRows & {
    /** The address of the page after a cursor; of the first page without one. */
    pathTo: (cursor?: string) => string;
    requests: '/requests' | '/operator/requests';
    action?: (entry: LedgerEntry) => JSX.Element | null;
    now_ms: number;
  },
): JSX.Element {
  const { entries, is_later, next_cursor, pathTo } = props;
  return (
    <>
      <Card flush>
        {entries.length > 0 ? (
          <LedgerTable {...props} />
        ) : (
          <Empty title="No entry yet">
            <p>Credits, charges and refunds appear here.</p>
          </Empty>
        )}
      </Card>
      {(is_later || next_cursor !== null) && (
        <div class="row">
          {is_later && (
            <a class="button" href={pathTo()}>
              Newest entries
            </a>
          )}
          {next_cursor !== null && (
            <a class="button" href={pathTo(next_cursor)}>
              Older entries
            </a>
          )}
        </div>
      )}
    </>
  );
}
