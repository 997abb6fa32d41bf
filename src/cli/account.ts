import type { Command } from 'commander';
import { formatDollars } from '../lib/money.js';
import { acting, command, group } from './command.js';
import { dollars } from './dollars.js';
import { priceTag, printJson, printLine, printRows, time } from './print.js';
import { withStore } from './store.js';
import type { Account } from '../store/accounts/accounts.js';

interface CreateOptions {
  config: string;
  credit: string;
  json?: boolean;
}

/** `tollgate account create NAME [--credit 10.00] | list` */
export function accountCommand(): Command {
  const create = command(
    'create',
    'make an account, with opening credit if wanted',
    'tollgate account create alice --credit 10.00',
  )
    .argument('<name>', 'a name that no other account has')
    .option('--credit <dollars>', 'its opening credit', '0')
    .option('--json', 'print {"id","name","balance"}')
    .action(acting(createAccount));
  const list = command('list', 'show every account', 'tollgate account list --json')
    .option('--json', 'print one JSON document')
    .action(acting(listAccounts));
  return group('account', 'make and list accounts', 'tollgate account list', [create, list]);
}

async function createAccount(name: string, options: CreateOptions): Promise<void> {
  const credit = dollars(options.credit);
  const account = await withStore(options.config, (store) => store.createAccount(name, credit));
  const balance = formatDollars(account.balance_nano);
  if (options.json) return printJson({ id: account.id, name: account.name, balance });
  printLine(`Made the account ${account.name} (${account.id}) with ${priceTag(balance)}.`);
}

async function listAccounts({ config, json }: { config: string; json?: boolean }): Promise<void> {
  const accounts = await withStore(config, (store) => store.accounts());
  printRows(accounts.map(row), json, 'There is no account yet: make one with "account create".');
}

function row({ id, name, balance_nano, held_nano, created_ms }: Account) {
  return {
    id,
    name,
    balance: formatDollars(balance_nano),
    held: formatDollars(held_nano),
    created: time(created_ms),
  };
}
