import type { JSX } from 'preact';
import { formatDollars } from '../../../lib/money.js';
import type { AccountRefund } from '../../../schema-types/account-refund.js';
import type { LedgerEntry } from '../../../store/ledger/ledger-columns.js';
import { accountOfId } from '../../../actions/action.js';
import { refundableCharge, refundCharge } from '../../../actions/charge-refund.js';
import { runAction } from '../../action-context.js';
import { seeOther } from '../../redirect.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { ActionForm, readActionForm } from '../action-form.js';
import { formRoutes, type FormState } from '../form.js';
import { sendPage } from '../page.js';
import { Ago, Card, Money } from '../parts.js';
import { accountPath } from './account-actions.js';

const PATH = '/operator/accounts/:id/refund/:requestID';

function refundPath({ account_id, reference }: LedgerEntry): string {
  return `${accountPath(account_id)}/refund/${encodeURIComponent(reference)}`;
}

/** The link to the refund of a charge; null for any other entry. */
export function refundLink(entry: LedgerEntry): JSX.Element | null {
  if (entry.kind !== 'charge' || entry.amount_nano === 0n) return null;
  return (
    <a class="button plain" href={refundPath(entry)}>
      Refund
    </a>
  );
}

/** The page that refunds a charge, or a part of it. */
export function refundRoutes(services: DashboardServices): Route[] {
  return formRoutes({
    access: 'operator',
    page: PATH,
    show: (ctx, visitor, state) => show(ctx, visitor, services, state),
    act: async (ctx, visitor, form) => {
      const { id = '', requestID = '' } = ctx.params;
      const more = { request_id: requestID };
      const refund = readActionForm(refundCharge, form, services.now(), more);
      await runAction(
        refundCharge,
        { account_id: id, ...(refund as AccountRefund) },
        ctx,
        visitor,
        services,
      );
      seeOther(ctx, `${accountPath(id)}?done=refunded`);
    },
  });
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  state: FormState,
): Promise<void> {
  const { id: wanted = '', requestID = '' } = ctx.params;
  const { id, name } = await accountOfId(services.store, wanted);
  const { charge, left_nano } = await refundableCharge(services.store, id, requestID);
  const now_ms = services.now();
  const page = {
    title: 'Refund a charge',
    above: { path: accountPath(id), name },
    at: '/operator/accounts',
    narrow: true,
    body: (
      <Card>
        <p>
          <strong>{charge.model}</strong> cost <Money nano={-charge.amount_nano} />,{' '}
          <Ago at_ms={charge.created_ms} now_ms={now_ms} />.{' '}
          {left_nano > 0n ? (
            <>
              <Money nano={left_nano} /> can be refunded.
            </>
          ) : (
            'All of it has been refunded.'
          )}
        </p>
        {left_nano > 0n ? (
          <RefundForm charge={charge} left_nano={left_nano} state={state} />
        ) : (
          <div class="row">
            <a class="button" href={`${accountPath(id)}?tab=ledger`}>
              To the ledger
            </a>
          </div>
        )}
      </Card>
    ),
  };
  sendPage(ctx, visitor, page, state.fault ? 400 : 200);
}

/** The form carries its reference, so that sending it twice refunds once. */
function RefundForm(props: {
  charge: LedgerEntry;
  left_nano: bigint;
  state: FormState;
}): JSX.Element {
  const { charge, left_nano, state } = props;
  const amount = formatDollars(left_nano);
  const reference = `refund of ${charge.reference}, ${amount} left`;
  return (
    <ActionForm
      action={refundCharge}
      path={refundPath(charge)}
      state={state}
      values={{ amount, reference }}
      submit="Refund"
      cancel={accountPath(charge.account_id)}
    />
  );
}
