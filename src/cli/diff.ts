import type { Command } from 'commander';
import type { Configuration } from '../core/configuration.js';
import type { Difference } from '../gateway/difference.js';
import type { Account } from '../store/accounts/accounts.js';
import type { Store } from '../store/store-types.js';
import { acting, command } from './command.js';
import { commandIo } from './command-io.js';
import { printJson, printLine } from './print.js';
import { readWithoutSecrets } from './read-without-secrets.js';
import { withStore } from './store.js';

interface Options {
  keys?: true;
  json?: true;
}

const DETAILS = `
A line that begins with - is a loss: something that worked before, such as a
model. A higher price is shown, but is no loss.
`;

/** `tollgate diff OLD NEW [--keys] [--json]` */
export function diffCommand(): Command {
  return command(
    'diff',
    'say what a new configuration changes; exit 1 where a client loses something, 2 for faults',
    'tollgate diff gateway.yaml gateway.new.yaml --keys',
  )
    .argument('<old>', 'the configuration that is served')
    .argument('<new>', 'the one that is to replace it')
    .option('--keys', 'also read the store of the old one, for keys that lose a model')
    .option('--json', 'print one JSON document')
    .addHelpText('after', DETAILS)
    .action(acting(diff, { invalid: 2 }));
}

async function diff(old_file: string, new_file: string, options: Options): Promise<void> {
  const { differences } = await import('../gateway/differences.js');
  const before = await readWithoutSecrets(old_file);
  const after = await readWithoutSecrets(new_file);
  const found = await differences(before, after);
  if (options.keys) found.push(...(await keyDifferences(old_file, before, after)));
  if (found.some(({ loses }) => loses)) commandIo().exit_status = 1;
  if (options.json) return printJson({ differences: found });
  if (found.length === 0) printLine('Nothing changes for clients.');
  for (const { loses, text } of found) printLine(`${loses ? '-' : ' '} ${text}`);
}

const PAGE = 500;

/** Finds the active keys whose list of models has a model that is gone. */
async function keyDifferences(
  file: string,
  before: Configuration,
  after: Configuration,
): Promise<Difference[]> {
  const { lostModels } = await import('../gateway/differences.js');
  return withStore(file, async (store) => {
    const found: Difference[] = [];
    for await (const { id, name } of allAccounts(store)) {
      for (const key of await store.keys(id)) {
        const gone = key.revoked_ms === null ? lostModels(key.models ?? [], before, after) : [];
        if (gone.length === 0) continue;
        found.push({ loses: true, text: `key ${key.id} of ${name} loses ${gone.join(', ')}` });
      }
    }
    return found;
  });
}

async function* allAccounts(store: Store): AsyncGenerator<Account> {
  let page = await store.accounts({ limit: PAGE });
  while (page.length > 0) {
    yield* page;
    const after = page.at(-1)?.name ?? '';
    page = page.length < PAGE ? [] : await store.accounts({ limit: PAGE, after });
  }
}
