import type { Command } from 'commander';
import type { AuditEntry } from '../store/audit/audit-log.js';
import { acting, command, withConfig } from './command.js';
import { paged, pageOf, type PageOptions } from './listing.js';
import { time } from './print.js';
import { printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';

interface Options extends PageOptions {
  config: string;
  account?: string;
  json?: boolean;
}

const ROWS = 100;

/** `tollgate audit [--account ACCOUNT] [--limit N] [--since 7d]` */
export function auditCommand(): Command {
  const words = 'show who changed what, newest first';
  return withConfig(
    paged(command('audit', words, 'tollgate audit --since 7d'), String(ROWS))
      .option('--account <account>', "only this account's, by name or id")
      .option('--json', 'print one JSON document')
      .action(acting(audit)),
  );
}

async function audit({ config, account, json, ...typed }: Options): Promise<void> {
  const { limit, since_ms } = pageOf(typed, Date.now(), ROWS);
  const since = since_ms === undefined ? {} : { since_ms };
  await withStore(config, async (store) => {
    const only =
      account === undefined ? {} : { account_id: (await accountCalled(store, account)).id };
    const entries = await store.audit.list({ ...only, ...since, limit });
    printRows(entries.map(row), json, 'There is no such change.');
  });
}

function row({ id, time_ms, actor, action, subject, ...entry }: AuditEntry) {
  return {
    id,
    time: time(time_ms),
    actor: actor.kind,
    by: actor.name ?? actor.id,
    action,
    subject,
    account: entry.account_id,
    before: entry.before,
    after: entry.after,
    request: actor.request_id,
  };
}
