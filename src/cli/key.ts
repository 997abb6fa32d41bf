import type { Command } from 'commander';
import { formatDollars } from '../lib/money.js';
import { cliActor } from './actor.js';
import { acting, command, group, repeated, UsageError } from './command.js';
import { termSentences, termsOf, type TypedTerms } from './key-terms.js';
import { newest, paged, pageOf, type PageOptions } from './listing.js';
import { printJson, printLine, time } from './print.js';
import { printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';
import type { Key } from '../store/keys/keys.js';

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
    printRows(newest(keys, page).map(row), json, `${account.name} has no key yet.`);
  });
}

async function revokeKey(id: string, { config, json }: Options): Promise<void> {
  const revoked = await withStore(config, (store) => store.revokeKey(id, undefined, cliActor()));
  if (!revoked)
    throw new UsageError(`there is no active key "${id}"; "tollgate key list ACCOUNT" shows them`);
  if (json) printJson({ id, revoked });
  else printLine(`Revoked ${id}: it is refused from now on.`);
}

function row(key: Key) {
  const { id, name, prefix, created_ms, last_used_ms, revoked_ms, limit_nano } = key;
  return {
    id,
    name,
    prefix,
    created: time(created_ms),
    last_used: time(last_used_ms),
    revoked: time(revoked_ms),
    expires: time(key.expires_ms),
    models: key.models,
    limit: limit_nano === null ? null : formatDollars(limit_nano),
    spent: limit_nano === null ? null : formatDollars(key.spent_nano),
  };
}
