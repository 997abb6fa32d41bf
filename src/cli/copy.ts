import type { Command } from 'commander';
import { acting, command } from './command.js';
import { printRows } from './print-rows.js';
import { pluralize, printJson, printLine } from './print.js';

/** `tollgate copy FROM TO [--json]`: a store into an empty one, also of the other database. */
export function copyCommand(): Command {
  return command(
    'copy',
    'copy a store into an empty one: SQLite to PostgreSQL, or back',
    'tollgate copy sqlite:data/tollgate.db postgres://tollgate@db.internal/tollgate',
  )
    .argument('<from>', 'the store to copy: sqlite:PATH, also a backup, or postgres://…')
    .argument('<to>', 'the empty store, whose tables are made: sqlite:PATH or postgres://…')
    .option('--json', 'print one JSON document')
    .action(acting(copy));
}

async function copy(from: string, to: string, { json }: { json?: true }): Promise<void> {
  const { copyStore } = await import('../store/copy.js');
  const report = await copyStore(from, to);
  if (json) return printJson(report);
  const { tables, images } = report;
  const shown = tables.map((one) => ({ ...one }));
  printRows(shown, json, 'There are no tables.');
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  printLine(
    `Copied ${pluralize(rows, 'row')} and the bytes of ${pluralize(images.copied, 'image')}. ` +
      'Both stores have these rows and sums, and all adds up.',
  );
  if (images.missing === 0) return;
  printLine(`FROM lacks the bytes of ${pluralize(images.missing, 'image')}: links answer 404.`);
}
