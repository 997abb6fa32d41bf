import type { Command } from 'commander';
import type { AuditEntry } from '../store/audit/audit-log.js';
import { parseDuration } from '../yaml/units.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { time } from './print.js';
import { printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';

interface Options {
  config: string;
  account?: string;
  limit?: string;
  since?: string;
  json?: boolean;
}

const MAX_ROWS = 100_000;

/** `tollgate audit [--account ACCOUNT] [--limit N] [--since 7d]` */
export function auditCommand(): Command {
  return withConfig(
    command('audit', 'show who changed what, newest first', 'tollgate audit --since 7d')
      .option('--account <account>', "only this account's, by name or id")
      .option('--limit <n>', 'at most so many, the newest (default: 100)')
      .option('--since <time>', 'only the last 12h or 7d, or from a time such as 2026-11-01 on')
      .option('--json', 'print one JSON document')
      .action(acting(audit)),
  );
}

async function audit({ config, account, limit = '100', since, json }: Options): Promise<void> {
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1 || most > MAX_ROWS) {
    throw new UsageError(`"${limit}" is not a number of rows from 1 to ${MAX_ROWS}`);
  }
  const since_ms = since === undefined ? {} : { since_ms: timeOf(since) };
  await withStore(config, async (store) => {
    const only =
      account === undefined ? {} : { account_id: (await accountCalled(store, account)).id };
    const entries = await store.audit.list({ ...only, ...since_ms, limit: most });
    printRows(entries.map(row), json, 'There is no such change.');
  });
}

/** Milliseconds since 1970 of a duration before now, or of a time. */
function timeOf(text: string): number {
  const duration_ms = parseDuration(text);
  if (duration_ms !== undefined) return Date.now() - duration_ms;
  const at_ms = /^\d{4}-\d{2}-\d{2}/u.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at_ms)) return at_ms;
  throw new UsageError(`"${text}" is neither a duration such as 7d nor a time such as 2026-11-01`);
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
