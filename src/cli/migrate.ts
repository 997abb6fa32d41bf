import type { Command } from 'commander';
import { acting, command, withConfig } from './command.js';
import { printJson, printLine } from './print.js';
import { environmentOf } from './environment.js';

/** `tollgate migrate`: brings the store to this version; `serve` does the same at its start. */
export function migrateCommand(): Command {
  return withConfig(
    command('migrate', 'bring the store to this version of Tollgate', 'tollgate migrate')
      .option('--json', 'print one JSON document')
      .action(acting(migrate)),
  );
}

async function migrate({ config, json }: { config: string; json?: boolean }): Promise<void> {
  const { storeUrlOf } = await import('../config/single-settings.js');
  const { migrate: migrateStore } = await import('../store/migrate.js');
  const { applied } = await migrateStore(await storeUrlOf(config, environmentOf(config)));
  if (json) return printJson({ applied });
  printLine(applied.length === 0 ? 'The store is up to date.' : `Applied ${applied.join(', ')}.`);
}
