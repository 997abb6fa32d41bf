import type { Command } from 'commander';
import { acting, command, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { pluralize, printJson, printLine } from './print.js';
import { withStore } from './store.js';

/** `tollgate verify`: exit status 0 if every account adds up, else 1. */
export function verifyCommand(): Command {
  return withConfig(
    command('verify', 'prove that every balance is the sum of its ledger', 'tollgate verify')
      .option('--json', 'print one JSON document')
      .action(acting(verify)),
  );
}

async function verify({ config, json }: { config: string; json?: boolean }): Promise<void> {
  const report = await withStore(config, (store) => store.verify());
  if (report.faults.length > 0) commandIo().exit_status = 1;
  if (json) return printJson(report);
  for (const fault of report.faults) printLine(fault);
  const { accounts, entries, open_holds, faults } = report;
  const verdict = faults.length === 0 ? 'All adds up' : pluralize(faults.length, 'fault');
  const seen = [
    pluralize(accounts, 'account'),
    pluralize(entries, 'ledger entry', 'ledger entries'),
    pluralize(open_holds, 'open hold'),
  ];
  printLine(`${verdict}: ${seen.join(', ')}.`);
}
