import { Option, type Command } from 'commander';
import { FAULT_FORMATS, format, type FaultFormat } from '../yaml/format.js';
import { acting, command, readLines, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { oldListText } from '../lib/old-list.js';
import { environmentOf } from './environment.js';
import { printLine } from './print.js';

interface Options {
  config: string;
  format: FaultFormat;
  json?: true;
  strict?: true;
  /** False for `--no-env`. */
  env: boolean;
  envFile?: string;
  allow: string[];
}

/** `tollgate check [gateway.yaml] [--format FORMAT] [--strict] [--allow CODE] [--no-env]` */
export function checkCommand(): Command {
  const choices = new Option('--format <format>', 'how to print faults')
    .choices(FAULT_FORMATS)
    .default('text');
  return withConfig(
    command(
      'check',
      'find every fault of a configuration; exit 0 valid, 1 faults, 2 cannot read',
      'tollgate check gateway.yaml --strict --no-env --format github',
    )
      .argument('[file]', 'the configuration to check (else --config)')
      .addOption(choices)
      .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
      .option('--strict', 'exit 1 for warnings too')
      .option('--allow <code>', 'accept warnings with this code; may be repeated', collect, [])
      .option('--no-env', 'take every ${NAME} and ${file:PATH} as set: CI needs no secrets')
      .option('--env-file <file>', 'read variables from this file (else .env beside gateway.yaml)')
      .action(acting(check)),
  );
}

function collect(code: string, before: readonly string[]): string[] {
  return [...before, code];
}

async function check(file: string | undefined, options: Options): Promise<void> {
  const { check: checkFile } = await import('../gateway/check.js');
  const path = file ?? options.config;
  const env = options.env ? environmentOf(path, options.envFile) : undefined;
  const now_ms = Date.now();
  const checked = await checkFile(path, env, undefined, options.allow, now_ms);
  const { faults, configuration } = checked;
  const isRefused = configuration !== undefined && options.strict === true && faults.length > 0;
  if (!configuration || isRefused) commandIo().exit_status = 1;
  const style = options.json ? 'json' : options.format;
  const report = format(faults, style, readLines(), options.strict);
  if (report !== '') printLine(report);
  if (style !== 'text' || !configuration) return;
  printLine(isRefused ? `${path} has warnings, which --strict refuses.` : `${path} is valid.`);
  const { listAge } = await import('../config/list-age.js');
  const { MODALITIES } = await import('../modalities/index.js');
  const age = oldListText(await listAge(configuration, MODALITIES, now_ms));
  if (age !== undefined) printLine(age);
}
