import type { DashboardServices, Route } from '../types.js';
import { CreditHint } from './credit-hint.js';
import { requireSession } from './guard.js';
import { LedgerPage, ledgerPage } from './ledger-page.js';
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
      const [account, rows] = await Promise.all([
        services.store.account(account_id),
        ledgerPage(ctx, account_id, services),
      ]);
      sendPage(ctx, visitor, {
        title: 'Ledger',
        about: 'All that your account was credited, charged and refunded: its sum is the balance.',
        body: (
          <>
            <CreditHint account={account} visitor={person} />
            <LedgerPage
              {...rows}
              now_ms={services.now()}
              pathTo={(cursor) => (cursor === undefined ? PATH : `${PATH}?cursor=${cursor}`)}
              requests="/requests"
            />
          </>
        ),
      });
    },
  };
}
