import type { Command } from 'commander';
import { formatDollars } from '../lib/money.js';
import type { Store } from '../store/store-types.js';
import { acting, command, withConfig } from './command.js';
import { printRows, time } from './print.js';
import { accountCalled, withStore } from './store.js';
import { usageOf, type LedgerEntry } from '../store/ledger/ledger-columns.js';

const PAGE = 1_000;

/** `tollgate ledger ACCOUNT` */
export function ledgerCommand(): Command {
  return withConfig(
    command('ledger', 'show what an account was credited and charged', 'tollgate ledger alice')
      .argument('<account>', 'its name or id')
      .option('--json', 'print one JSON document')
      .action(acting(ledger)),
  );
}

async function ledger(
  name: string,
  { config, json }: { config: string; json?: boolean },
): Promise<void> {
  await withStore(config, async (store) => {
    const account = await accountCalled(store, name);
    const entries = await allEntries(store, account.id);
    printRows(entries.map(row), json, `${account.name} has no entry yet.`);
  });
}

async function allEntries(store: Store, account_id: string): Promise<LedgerEntry[]> {
  const all: LedgerEntry[] = [];
  for (;;) {
    const after = all.at(-1)?.id ?? 0;
    const page = await store.ledger(account_id, { after, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

function row(entry: LedgerEntry) {
  return {
    id: entry.id,
    time: time(entry.created_ms),
    kind: entry.kind,
    amount: formatDollars(entry.amount_nano),
    model: entry.model,
    provider: entry.provider,
    usage: usageOf(entry),
    estimated: entry.estimated,
    uncollected: formatDollars(entry.uncollected_nano),
    key: entry.key_id,
    reference: entry.reference,
  };
}
