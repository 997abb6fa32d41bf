import type { Account } from '../store/accounts/accounts.js';
import { ACCOUNT_FIELD, accountOfId, oneAction } from './action.js';
import { isoTime } from './shapes.js';

const LIFETIME_MS = 10 * 60_000;

interface LinkWanted {
  account_id: string;
  /** Only the command line makes links for operators. */
  is_operator?: boolean;
}

export const createSignInLink = oneAction({
  name: 'sign-in-link',
  fields: {
    account_id: ACCOUNT_FIELD,
    is_operator: {
      typed: '--operator',
      about: 'let whoever uses it see and manage every account',
      type: 'flag',
    },
  },
  async run({ store, publicUrl }, { account_id, is_operator = false }: LinkWanted, { actor }) {
    const account = await accountOfId(store, account_id);
    const terms = { operator: is_operator, lifetime_ms: LIFETIME_MS, by: actor };
    const { secret, due_ms } = await store.sign_in.createLink(account_id, terms);
    const url = `${await publicUrl()}/sign-in/link?token=${secret}`;
    return { account, is_operator, url, due_ms };
  },
  routes: [
    {
      method: 'POST',
      path: '/api/accounts/:accountID/sign-in-link',
      scope: 'sign-in-links:write',
      id: 'createSignInLink',
      summary: 'Create a link that signs in to an account, once within ten minutes',
      status: 201,
      answer: 'SignInLink',
    },
  ],
  answer: linkShape,
  command: {
    about: 'print a link that signs in to the dashboard, once',
    example: 'tollgate sign-in-link alice',
    json: 'print {"url","expires"}',
    document: linkShape,
    lines({ account: { name }, is_operator, url }) {
      const as = is_operator ? `${name}, as an operator` : name;
      return [`Open this within ten minutes to sign in to ${as}. It works once:`, url];
    },
  },
});

export interface SignInLink {
  account: Account;
  is_operator: boolean;
  /** Begins with `public_url`; it holds the secret. */
  url: string;
  due_ms: number;
}

function linkShape({ url, due_ms }: SignInLink): object {
  return { url, expires: isoTime(due_ms) };
}
