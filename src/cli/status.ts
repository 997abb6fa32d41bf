import type { Command } from 'commander';
import { acting, command, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { printJson, printLine } from './print.js';
import { reportOf, type StatusOptions } from './status-report.js';
import { statusText } from './status-text.js';

interface Options extends StatusOptions {
  json?: true;
}

/** `tollgate status [--listen host:port] [--json]`: exit status 0 if it is ready, else 1. */
export function statusCommand(): Command {
  return withConfig(
    command(
      'status',
      'show the state of the gateway; exit 1 if it is not ready',
      'tollgate status --json',
    )
      .option('--listen <host:port>', 'where it listens, in place of the configuration')
      .option('--json', 'print one JSON document')
      .action(acting(status)),
  );
}

async function status(options: Options): Promise<void> {
  const report = await reportOf(options, Date.now());
  if (!report.serving.ready || !report.store.answers) commandIo().exit_status = 1;
  if (options.json) printJson(report);
  else for (const line of statusText(report)) printLine(line);
}
