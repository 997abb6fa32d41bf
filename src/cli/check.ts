import { Option, type Command } from 'commander';
import { format, type FaultFormat } from '../yaml/format.js';
import { acting, command, withConfig } from './command.js';
import { printLine } from './print.js';

interface Options {
  config: string;
  format: FaultFormat;
}

/** `tollgate check [gateway.yaml] [--format text|json|github]` */
export function checkCommand(): Command {
  const choices = new Option('--format <format>', 'how to print faults')
    .choices(['text', 'json', 'github'])
    .default('text');
  return withConfig(
    command(
      'check',
      'find every fault of a configuration; exit 0 valid, 1 faults, 2 cannot read',
      'tollgate check gateway.yaml --format github',
    )
      .argument('[file]', 'the configuration to check (else --config)')
      .addOption(choices)
      .action(acting(check)),
  );
}

async function check(file: string | undefined, options: Options): Promise<void> {
  const { check: checkFile } = await import('../gateway/check.js');
  const path = file ?? options.config;
  const { faults, configuration } = await checkFile(path, process.env);
  if (!configuration) process.exitCode = 1;
  const report = format(faults, options.format);
  if (report !== '') printLine(report);
  if (configuration && options.format === 'text') printLine(`${path} is valid.`);
}
