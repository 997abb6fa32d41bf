import type { JSX } from 'preact';
import type { Visitor } from '../types.js';
import type { Account } from '../../store/accounts/accounts.js';
import { Notice } from './parts.js';

/** Tells a visitor without credit how to get some. */
export function CreditHint(props: {
  account: Account | undefined;
  visitor: Visitor;
}): JSX.Element | null {
  const { account, visitor } = props;
  if (!account || account.balance_nano > account.held_nano) return null;
  const page = `/operator/accounts/${encodeURIComponent(account.id)}`;
  return (
    <Notice colour="warn">
      <strong>
        {account.balance_nano > 0n ? 'All your credit is held.' : 'You have no credit.'}
      </strong>{' '}
      Calls to models that are not free are refused until there is some.{' '}
      {visitor.operator ? (
        <>
          As an operator you can <a href={page}>add credit</a>.
        </>
      ) : (
        <>
          Ask an operator of this gateway to credit your account, <code>{account.name}</code>.
        </>
      )}
    </Notice>
  );
}
