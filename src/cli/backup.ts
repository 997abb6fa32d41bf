import type { Command } from 'commander';
import { acting, command, UsageError, withConfig } from './command.js';
import { environmentOf } from './environment.js';
import { pluralize, printJson, printLine } from './print.js';
import { untilStopped } from './signals.js';

interface Options {
  config: string;
  force?: boolean;
  json?: true;
}

/** `tollgate backup FILE [--force] [--json]`: the store as it is now, also while `serve` runs. */
export function backupCommand(): Command {
  return withConfig(
    command(
      'backup',
      'copy the store into a file, checked, also while it is served',
      'tollgate backup backups/monday.db',
    )
      .argument('<file>', 'the backup to make')
      .option('--force', 'replace the file if it is there')
      .option('--json', 'print one JSON document')
      .action(acting(backup)),
  );
}

async function backup(file: string, { config, force = false, json }: Options): Promise<void> {
  const { journalFolderOf, storePlaceOf } = await import('../config/single-settings.js');
  const { backupStore } = await import('../store/backup.js');
  const { chargesIn } = await import('../store/journal/journal.js');
  const env = environmentOf(config);
  const place = await storePlaceOf(config, env);
  const folder = await journalFolderOf(config, env, place.url);
  const report = await backupStore(place, file, { force, signal: stopSignal() });
  const journal = { folder, charges: await chargesIn(folder) };
  if (json) return printJson({ ...report, journal });
  const { accounts, entries, open_holds, bytes } = report;
  const held = [
    pluralize(accounts, 'account'),
    pluralize(entries, 'ledger entry', 'ledger entries'),
    pluralize(open_holds, 'open hold'),
  ];
  printLine(`${report.file} holds ${held.join(', ')} in ${bytes} bytes. All adds up.`);
  if (journal.charges === 0) return;
  const waiting = pluralize(journal.charges, 'charge waits', 'charges wait');
  printLine(`${waiting} in the journal and may not be in the backup: also copy ${folder}`);
}

/** Aborted when the process is told to stop, so that it leaves no part of a backup behind. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  void untilStopped().then(() => stop.abort(new UsageError('stopped; no backup was made')));
  return stop.signal;
}
