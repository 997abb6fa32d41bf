import { editAccount } from '../../../actions/account-edit.js';
import { accountOfId } from '../../../actions/action.js';
import { withOwnAllowances } from '../../../actions/limit-terms.js';
import type { AccountEdit } from '../../../schema-types/account-edit.js';
import { runAction } from '../../action-context.js';
import { seeDone } from '../../redirect.js';
import type { DashboardContext, DashboardServices, Route } from '../../types.js';
import { ActionForm, readActionForm } from '../action-form.js';
import { formRoutes } from '../form.js';
import { changedAllowances, limitValues } from '../limits.js';
import { sendPage } from '../page.js';
import { Card } from '../parts.js';
import { accountPath } from './account-actions.js';

/** The path of the page with the limits of an account. */
export function limitsPath(account_id: string): string {
  return `${accountPath(account_id)}/limits`;
}

/** The page that changes the limits of an account. */
export function accountLimitsRoutes(services: DashboardServices): Route[] {
  const { store, now } = services;
  const find = async ({ params }: DashboardContext) =>
    withOwnAllowances(store, 'account', await accountOfId(store, params.id ?? ''));
  return formRoutes({
    access: 'operator',
    page: '/operator/accounts/:id/limits',
    async show(ctx, visitor, state) {
      const account = await find(ctx);
      const { id, name } = account;
      const cancel = accountPath(id);
      const form = {
        action: editAccount,
        path: ctx.path,
        state: state.fault ? state : { values: new URLSearchParams(limitValues(account)) },
        submit: 'Save',
        cancel,
      };
      const page = {
        title: `Limits of ${name}`,
        above: { path: cancel, name },
        at: '/operator/accounts',
        narrow: true,
        body: (
          <Card>
            <ActionForm {...form} />
          </Card>
        ),
      };
      sendPage(ctx, visitor, page, state.fault ? 400 : 200);
    },
    async act(ctx, visitor, sent) {
      const account = await find(ctx);
      const edit = readActionForm(editAccount, sent, now()) as AccountEdit;
      const allowances = changedAllowances(account, edit.allowances);
      const input = { ...edit, allowances, account_id: account.id };
      await runAction(editAccount, input, ctx, visitor, services);
      seeDone(ctx, accountPath(account.id), 'limited');
    },
  });
}
