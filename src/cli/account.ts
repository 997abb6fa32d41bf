import type { Command } from 'commander';
import { cliActor } from './actor.js';
import { acting, command, group } from './command.js';
import { dollars } from './dollars.js';
import { newest, paged, pageOf, type PageOptions } from './listing.js';
import { accountShape } from '../dashboard/views/shapes.js';
import { withDollarSign, printJson, printLine } from './print.js';
import { printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';

interface CreateOptions {
  config: string;
  credit: string;
  json?: boolean;
}

interface ListOptions extends PageOptions {
  config: string;
  json?: boolean;
}

/** `tollgate account create NAME [--credit 10.00] | list | suspend NAME | resume NAME` */
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
  const list = paged(command('list', 'show the accounts', 'tollgate account list --json'))
    .option('--json', 'print one JSON document')
    .action(acting(listAccounts));
  const suspend = command(
    'suspend',
    'refuse the keys of an account, at once and until it is resumed',
    'tollgate account suspend alice',
  )
    .argument('<account>', 'its name or id')
    .option('--json', 'print one JSON document')
    .action(acting(suspendAccount));
  const resume = command('resume', 'end a suspension', 'tollgate account resume alice')
    .argument('<account>', 'its name or id')
    .option('--json', 'print one JSON document')
    .action(acting(resumeAccount));
  const parts = [create, list, suspend, resume];
  const about = 'make, list, suspend and resume accounts';
  return group('account', about, 'tollgate account list', parts);
}

async function createAccount(name: string, options: CreateOptions): Promise<void> {
  const credit = dollars(options.credit);
  const account = await withStore(
    options.config,
    (store) => store.createAccount(name, credit, cliActor()),
    { creates: true },
  );
  const { id, balance } = accountShape(account);
  if (options.json) return printJson({ id, name: account.name, balance });
  printLine(`Made the account ${account.name} (${id}) with ${withDollarSign(balance)}.`);
}

async function listAccounts({ config, json, ...typed }: ListOptions): Promise<void> {
  const page = pageOf(typed, Date.now());
  const accounts = await withStore(config, (store) => store.accounts());
  printRows(
    newest(accounts, page).map((account) => ({ ...accountShape(account) })),
    json,
    accounts.length > 0
      ? 'No account is as new as that.'
      : 'There is no account yet: make one with "account create".',
  );
}

interface AccountOptions {
  config: string;
  json?: boolean;
}

async function suspendAccount(name: string, { config, json }: AccountOptions): Promise<void> {
  await withStore(config, async (store) => {
    const account = await accountCalled(store, name);
    const isNew = await store.suspend(account.id, cliActor());
    if (json) return printJson(accountShape(await accountCalled(store, account.id)));
    if (!isNew) return printLine(`${account.name} is suspended already.`);
    printLine(`Suspended ${account.name}: its keys are refused from now on.`);
  });
}

async function resumeAccount(name: string, { config, json }: AccountOptions): Promise<void> {
  await withStore(config, async (store) => {
    const account = await accountCalled(store, name);
    const isNew = await store.resume(account.id, cliActor());
    if (json) return printJson(accountShape(await accountCalled(store, account.id)));
    if (!isNew) return printLine(`${account.name} is not suspended.`);
    printLine(`Resumed ${account.name}: its keys can call again.`);
  });
}
