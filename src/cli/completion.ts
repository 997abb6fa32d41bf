import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, Option, type Command } from 'commander';
import { packageRoot } from '../lib/package-root.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { completionScript, SHELLS, type Shell } from './completion-scripts.js';
import { commandWords, LISTS, type ListName } from './completion-tree.js';
import { modelIds, providerNames } from './entry-names.js';
import { environmentOf } from './environment.js';
import { printJson, printLine } from './print.js';

interface Options {
  config: string;
  list?: ListName;
  json?: true;
}

/** The maximum of accounts that a completion offers. */
const MAX_ACCOUNTS = 1_000;

const DETAILS = `
Put one of these into the file that your shell reads at its start:
  bash   eval "$(tollgate completion bash)"
  zsh    eval "$(tollgate completion zsh)"      after compinit
  fish   tollgate completion fish | source
`;

/** `tollgate completion bash|zsh|fish` */
export function completionCommand(): Command {
  return withConfig(
    command(
      'completion',
      'print a script by which a shell completes commands, options and names',
      'tollgate completion bash',
    )
      .addArgument(new Argument('[shell]', 'the shell').choices(SHELLS))
      .addOption(new Option('--list <names>', 'print names for such a script').choices(LISTS))
      .option('--json', 'print one JSON document')
      .addHelpText('after', DETAILS)
      .action(acting(complete)),
  );
}

async function complete(shell: Shell | undefined, options: Options, own: Command): Promise<void> {
  const { list, json } = options;
  if (list) {
    const names = await namesOf(list, options.config);
    if (json) return printJson(names);
    if (names.length > 0) printLine(names.join('\n'));
    return;
  }
  if (!shell) throw new UsageError(`name a shell: ${SHELLS.join(', ')}`);
  const script = completionScript(shell, commandWords(own.parent ?? own));
  if (json) return printJson({ shell, script });
  commandIo().stdout.write(script);
}

/** The names of a list. */
async function namesOf(list: ListName, config: string): Promise<readonly string[]> {
  switch (list) {
    case 'accounts':
      return accounts(config);
    case 'manifests':
      return manifests();
    case 'models':
      return modelIds(config);
    case 'models-and-providers':
      return [...(await modelIds(config)), ...(await providerNames(config))];
  }
}

async function accounts(config: string): Promise<string[]> {
  const { storePlaceOf } = await import('../config/single-settings.js');
  const { accountNames } = await import('../store/accounts/account-names.js');
  const { url } = await storePlaceOf(config, environmentOf(config));
  const names = await accountNames(url, MAX_ACCOUNTS);
  return names.filter((name) => !/\p{C}/u.test(name));
}

async function manifests(): Promise<string[]> {
  const files = await readdir(join(packageRoot, 'providers'));
  return files.flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? []).sort();
}
