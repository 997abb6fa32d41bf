import type { Command } from 'commander';
import { acting, command, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { printJson, printLine } from './print.js';
import { printRows } from './print-rows.js';
import { environmentOf } from './environment.js';
import type { LiveProcess } from '../store/leases/leases.js';
import type { Migration } from '../store/migrations.js';
import { nameOfProcess } from '../telemetry/boxes.js';

/** What a migration means for the calls of other boxes. */
const EFFECTS: Readonly<Record<Migration['effect'], string>> = {
  quick: 'wait for a moment',
  indexes: 'that write a table wait while an index of it is built',
  rewrites: 'wait while rows are changed',
  beside_calls: 'go on',
};

const UP_TO_DATE = 'The store is up to date.';

interface MigrateOptions {
  config: string;
  dryRun?: boolean;
  json?: boolean;
}

/** `tollgate migrate`: brings the store to this version; `serve` does the same at its start. */
export function migrateCommand(): Command {
  return withConfig(
    command('migrate', 'bring the store to this version of Tollgate', 'tollgate migrate --dry-run')
      .option('--dry-run', 'say what it would do, and change nothing')
      .option('--json', 'print one JSON document')
      .action(acting(migrate)),
  );
}

async function migrate({ config, dryRun = false, json }: MigrateOptions): Promise<void> {
  const { storePlaceOf } = await import('../config/single-settings.js');
  const { migrate: migrateStore, pendingMigrations } = await import('../store/migrate.js');
  const place = await storePlaceOf(config, environmentOf(config));
  const pending = await pendingMigrations(place);
  if (!json && pending.length > 0) printPending(pending);
  const { applied } = dryRun ? { applied: [] } : await migrateStore(place, { onOlder: tellOlder });
  if (json) return printJson({ applied, pending: pending.map(jsonOfMigration) });
  if (applied.length > 0) printLine(`Applied ${applied.join(', ')}.`);
  else printLine(pending.length > 0 && dryRun ? 'Nothing was changed.' : UP_TO_DATE);
}

function tellOlder(older: readonly LiveProcess[]): void {
  const names = older.map(nameOfProcess).join(', ');
  commandIo().stderr.write(`Waiting until older boxes end, at most five minutes: ${names}.\n`);
}

function printPending(pending: readonly Migration[]): void {
  const rows = pending.map(({ name, kind, effect }) => {
    return { migration: name, kind, calls: EFFECTS[effect] };
  });
  printRows(rows, false, '');
}

function jsonOfMigration(migration: Migration): Record<string, unknown> {
  const { name, kind, effect } = migration;
  const lowest = migration.kind === 'contracts' ? migration.lowest : null;
  return { name, kind, lowest, effect };
}
