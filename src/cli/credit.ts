import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { accountShape } from '../dashboard/views/shapes.js';
import { formatDollars } from '../lib/money.js';
import { cliActor } from './actor.js';
import { acting, command, withConfig } from './command.js';
import { dollars } from './dollars.js';
import { withDollarSign, printJson, printLine } from './print.js';
import { accountCalled, withStore } from './store.js';
import type { LedgerEntry } from '../store/ledger/ledger-columns.js';

interface Options {
  config: string;
  reference?: string;
  json?: boolean;
}

/** `tollgate credit ACCOUNT AMOUNT [--reference TEXT]` */
export function creditCommand(): Command {
  return withConfig(
    command(
      'credit',
      'add to an account (a negative amount takes back)',
      'tollgate credit alice 25.00 --reference invoice-1042',
    )
      .argument('<account>', 'its name or id')
      .argument('<amount>', 'dollars, such as 25.00')
      .option('--reference <text>', 'the same reference twice credits once')
      .option('--json', 'print one JSON document')
      .action(acting(credit)),
  );
}

async function credit(name: string, amount: string, options: Options): Promise<void> {
  const amount_nano = dollars(amount);
  await withStore(options.config, async (store) => {
    const account = await accountCalled(store, name);
    const reference = options.reference ?? randomUUID();
    const began_ms = Date.now();
    const entry = await store.credit(account.id, amount_nano, reference, cliActor());
    const { id, name: called, balance } = accountShape(await accountCalled(store, account.id));
    const credited = formatDollars(entry.amount_nano);
    if (options.json) return printJson({ account: id, reference, amount: credited, balance });
    const sentence = creditSentence(entry, called, began_ms);
    printLine(`${sentence}: the balance is ${withDollarSign(balance)}.`);
  });
}

function creditSentence(
  { amount_nano, reference, created_ms }: LedgerEntry,
  name: string,
  began_ms: number,
): string {
  const amount = withDollarSign(formatDollars(amount_nano));
  if (created_ms < began_ms) return `The reference "${reference}" has credited ${amount} before`;
  if (amount_nano >= 0n) return `Credited ${amount} to ${name}`;
  return `Took back ${amount.slice(1)} from ${name}`;
}
