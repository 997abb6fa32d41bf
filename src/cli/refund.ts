import type { Command } from 'commander';
import { chargedTaskOf } from '../billing/charged-task.js';
import { accountShape } from '../dashboard/views/shapes.js';
import { formatDollars } from '../lib/money.js';
import { NoCharge } from '../store/store-error.js';
import type { Store } from '../store/store-types.js';
import type { LedgerEntry } from '../store/ledger/ledger-columns.js';
import type { RefundRequest } from '../store/ledger/refund.js';
import { cliActor } from './actor.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { dollars } from './dollars.js';
import { withDollarSign, printJson, printLine } from './print.js';
import { accountCalled, withStore } from './store.js';

interface Options {
  config: string;
  amount?: string;
  reference?: string;
  json?: boolean;
}

/** `tollgate refund REQUEST_ID [--amount 0.10] [--reference TEXT]` */
export function refundCommand(): Command {
  return withConfig(
    command(
      'refund',
      'give a charge back, or a part of it',
      'tollgate refund 0199e0c4-7a53-7d6e-b1f8-2d1c5a9e4b70 --amount 0.10',
    )
      .argument('<request_id>', 'the x-request-id of the request, or the request_id of a task')
      .option('--amount <dollars>', 'a part, such as 0.10; all that is left otherwise')
      .option('--reference <text>', 'the same reference twice refunds once')
      .option('--json', 'print one JSON document')
      .action(acting(refund)),
  );
}

async function refund(request_id: string, options: Options): Promise<void> {
  const { amount, reference } = options;
  const terms = {
    request_id,
    ...(amount !== undefined && { amount_nano: dollars(amount) }),
    ...(reference !== undefined && { reference }),
  };
  await withStore(options.config, async (store) => {
    const began_ms = Date.now();
    const entry = await refundOrThrow(store, terms);
    const account = accountShape(await accountCalled(store, entry.account_id));
    const given = formatDollars(entry.amount_nano);
    if (options.json) {
      const { id, balance } = account;
      return printJson({ account: id, reference: entry.reference, amount: given, balance });
    }
    const sentence =
      entry.created_ms < began_ms
        ? `The reference "${entry.reference}" has refunded ${withDollarSign(given)} before`
        : `Refunded ${withDollarSign(given)} to ${account.name}`;
    printLine(`${sentence}: the balance is ${withDollarSign(account.balance)}.`);
  });
}

async function refundOrThrow(store: Store, terms: RefundRequest): Promise<LedgerEntry> {
  try {
    return await store.refund(terms, cliActor());
  } catch (error) {
    if (!(error instanceof NoCharge)) throw error;
    throw new UsageError(await noChargeText(store, terms.request_id));
  }
}

/** Names the submission of a video, if the request fetched one: the ledger has that ID. */
async function noChargeText(store: Store, id: string): Promise<string> {
  const task = await chargedTaskOf(store, { request_id: id });
  const remedy = task
    ? `it fetched a video whose charge is that of its submission, ${task.id}: refund that`
    : '"tollgate ledger ACCOUNT" shows them';
  return `there is no charge of "${id}"; ${remedy}`;
}
