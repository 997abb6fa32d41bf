import type { Command } from 'commander';
import { formatDollars } from '../lib/money.js';
import type { Store } from '../store/store-types.js';
import { acting, command, withConfig } from './command.js';
import { paged, pageOf, type Page, type PageOptions } from './listing.js';
import { printJson, formatTime } from './print.js';
import { printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';
import { usageOf, type LedgerEntry } from '../store/ledger/ledger-columns.js';

const PAGE = 1_000;
const EXAMPLE = 'tollgate ledger alice --since 3d';

/** `tollgate ledger ACCOUNT` */
export function ledgerCommand(): Command {
  return withConfig(
    paged(command('ledger', 'show what an account was credited and charged', EXAMPLE))
      .argument('<account>', 'its name or id')
      .option('--json', 'print one JSON document')
      .action(acting(ledger)),
  );
}

async function ledger(
  name: string,
  { config, json, ...typed }: PageOptions & { config: string; json?: boolean },
): Promise<void> {
  const page = pageOf(typed, Date.now());
  await withStore(config, async (store) => {
    const account = await accountCalled(store, name);
    const entries = await newestEntries(store, account.id, page);
    if (json) return printJson(entries.map(view));
    const keys = await store.keys(account.id);
    const names = new Map(keys.map(({ id, name: key_name }) => [id, key_name]));
    const rows = entries.map((entry) => row(entry, names));
    printRows(rows, false, `${account.name} has no entry yet.`);
  });
}

/** The newest entries of an account, oldest first. They are read in pages from the newest on. */
async function newestEntries(
  store: Store,
  account_id: string,
  { limit, since_ms = -Infinity }: Page,
): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; found.length < limit;) {
    const page = await store.ledger(account_id, { before, limit: PAGE });
    const wanted = page.filter(({ created_ms }) => created_ms >= since_ms);
    found.push(...wanted);
    if (page.length < PAGE || wanted.length < page.length) break;
    before = page.at(-1)?.id ?? 0;
  }
  return found.slice(0, limit).reverse();
}

/** All that is known of an entry, for programs. Dollars are decimal strings. */
function view(entry: LedgerEntry) {
  return {
    id: entry.id,
    time: formatTime(entry.created_ms),
    kind: entry.kind,
    amount: formatDollars(entry.amount_nano),
    model: entry.model,
    provider: entry.provider,
    usage: usageOf(entry),
    estimated: entry.estimated,
    uncollected: formatDollars(entry.uncollected_nano),
    key: entry.key_id,
    reference: entry.reference,
    refund_of: entry.refund_of,
  };
}

/** An entry as a row of a table, which needs no columns for what most entries do not have. */
function row(entry: LedgerEntry, key_names: ReadonlyMap<string, string>) {
  const { estimated, uncollected, key, reference, refund_of, ...rest } = view(entry);
  return {
    ...rest,
    estimated: estimated || null,
    uncollected: entry.uncollected_nano > 0n ? uncollected : null,
    key_name: key === null ? null : (key_names.get(key) ?? null),
    key,
    reference,
    refund_of,
  };
}
