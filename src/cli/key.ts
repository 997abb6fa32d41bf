import type { Command } from 'commander';
import { keyShape } from '../dashboard/views/shapes.js';
import { cliActor } from './actor.js';
import { acting, command, group, repeated, UsageError } from './command.js';
import { termSentences, termsOf, type TypedTerms } from './key-terms.js';
import { newest, paged, pageOf, type PageOptions } from './listing.js';
import { printJson, printLine } from './print.js';
import { printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';

interface Options {
  config: string;
  json?: boolean;
}

/** `tollgate key create ACCOUNT --name TEXT [terms] | list ACCOUNT | revoke KEY_ID` */
export function keyCommand(): Command {
  const create = command(
    'create',
    'make an API key; its secret is shown once, here',
    'tollgate key create alice --name laptop',
  )
    .argument('<account>', 'its name or id')
    .requiredOption('--name <text>', 'what the key is for')
    .option('--expires <time>', 'refuse it after such a time, as in 12h or 30d')
    .option('--model <model>', 'let it use this model alone; may be repeated', repeated)
    .option('--limit <dollars>', 'let it spend so much in all')
    .option('--json', 'print {"id","name","secret"}')
    .action(acting(createKey));
  const list = paged(command('list', 'show the keys of an account', 'tollgate key list alice'))
    .argument('<account>', 'its name or id')
    .option('--json', 'print one JSON document')
    .action(acting(listKeys));
  const revoke = command('revoke', 'revoke a key, at once', 'tollgate key revoke key_1a2b3c')
    .argument('<key_id>', 'the id that "key list" shows')
    .option('--json', 'print one JSON document')
    .action(acting(revokeKey));
  const parts = [create, list, revoke];
  return group('key', 'make, list and revoke API keys', 'tollgate key list alice', parts);
}

async function createKey(
  name: string,
  options: Options & TypedTerms & { name: string },
): Promise<void> {
  const terms = await termsOf(options, options.config);
  await withStore(options.config, async (store) => {
    const account = await accountCalled(store, name);
    const { key, secret } = await store.createKey(account.id, options.name, terms, cliActor());
    if (options.json) return printJson({ id: key.id, name: key.name, secret });
    printLine(`Made the key ${key.id} for ${account.name}. Its secret, shown this once:`);
    printLine(secret);
    for (const sentence of termSentences(key)) printLine(sentence);
  });
}

async function listKeys(
  name: string,
  { config, json, ...typed }: Options & PageOptions,
): Promise<void> {
  const page = pageOf(typed, Date.now());
  await withStore(config, async (store) => {
    const account = await accountCalled(store, name);
    const keys = await store.keys(account.id);
    const rows = newest(keys, page).map((key) => ({ ...keyShape(key) }));
    printRows(rows, json, `${account.name} has no key yet.`);
  });
}

async function revokeKey(id: string, { config, json }: Options): Promise<void> {
  await withStore(config, async (store) => {
    const revoked = await store.revokeKey(id, undefined, cliActor());
    const key = revoked ? await store.key(id) : undefined;
    if (!key) {
      const all = '"tollgate key list ACCOUNT" shows them';
      throw new UsageError(`there is no active key "${id}"; ${all}`);
    }
    if (json) return printJson({ id, revoked });
    printLine(`Revoked ${id} (${key.name}): it is refused from now on.`);
  });
}
