import { wantsCsv } from '../csv-answer.js';
import type { DashboardServices, Route } from '../types.js';
import { CreditHint } from './credit-hint.js';
import { requireSession } from './guard.js';
import { ledgerList, sendLedgerCsv } from './ledger-table.js';
import { addressOf } from './list-page.js';
import { sendPage } from './page.js';

const PATH = '/ledger';

/** The page with all that was credited, charged and refunded. */
export function ledgerRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'session',
    answer: async (ctx, visitor) => {
      const person = requireSession(visitor);
      const { account_id } = person.session;
      if (wantsCsv(ctx)) return sendLedgerCsv(account_id, ctx, visitor, services);
      const account = await services.store.account(account_id);
      const list = await ledgerList({
        account_id,
        ctx,
        visitor,
        services,
        pathTo: (words) => addressOf(PATH, { ...words }),
        requests: '/requests',
      });
      sendPage(ctx, visitor, {
        title: 'Ledger',
        about: 'All that your account was credited, charged and refunded: its sum is the balance.',
        body: (
          <>
            <CreditHint account={account} visitor={person} />
            {list}
          </>
        ),
      });
    },
  };
}
