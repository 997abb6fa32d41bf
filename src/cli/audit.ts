import type { Command } from 'commander';
import type { AuditEntry } from '../store/audit/audit-log.js';
import { acting, command, withConfig } from './command.js';
import { paged, pageOf, type PageOptions } from './listing.js';
import { auditShape } from '../dashboard/views/audit.js';
import { namesOf } from './names.js';
import { printJson } from './print.js';
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
    if (json) return printJson(entries.map((entry) => row(entry, entry.account_id)));
    const names = namesOf(store);
    const rows = entries.map(async (entry) => {
      return row(entry, entry.account_id && (await names.account(entry.account_id)));
    });
    printRows(await Promise.all(rows), false, 'There is no such change.');
  });
}

function row(entry: AuditEntry, account: string | null) {
  const {
    id,
    time,
    actor,
    action,
    subject,
    before,
    after,
    request_id: request,
  } = auditShape(entry);
  const by = actor.name ?? actor.id;
  return { id, time, actor: actor.kind, by, action, subject, account, before, after, request };
}
