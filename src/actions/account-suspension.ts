import { ACCOUNT_FIELD, accountOfId, oneAction } from './action.js';
import { accountShape } from './shapes.js';

interface Suspension {
  verb: 'suspend' | 'resume';
  summary: string;
  about: string;
  /** The lines of the command: what was done, or that it was so already. */
  done: (name: string) => string;
  repeated: (name: string) => string;
}

function suspensionAction({ verb, summary, about, done, repeated }: Suspension) {
  return oneAction({
    name: `account ${verb}`,
    fields: { account_id: ACCOUNT_FIELD },
    async run({ store }, { account_id }: { account_id: string }, { actor }) {
      const is_new = await store[verb](account_id, actor);
      return { account: await accountOfId(store, account_id), is_new };
    },
    routes: [
      {
        method: 'POST',
        path: `/api/accounts/:accountID/${verb}`,
        scope: 'accounts:write',
        id: `${verb}Account`,
        summary,
        status: 200,
        answer: 'Account',
      },
    ],
    answer: ({ account }) => accountShape(account),
    command: {
      about,
      example: `tollgate account ${verb} alice`,
      document: ({ account }) => accountShape(account),
      lines: ({ account: { name }, is_new }) => [is_new ? done(name) : repeated(name)],
    },
  });
}

export const suspendAccount = suspensionAction({
  verb: 'suspend',
  summary: 'Suspend an account: its keys are refused until it is resumed',
  about: 'refuse the keys of an account, at once and until it is resumed',
  done: (name) => `Suspended ${name}: its keys are refused from now on.`,
  repeated: (name) => `${name} is suspended already.`,
});

export const resumeAccount = suspensionAction({
  verb: 'resume',
  summary: 'Resume an account: its keys are accepted again',
  about: 'end a suspension',
  done: (name) => `Resumed ${name}: its keys can call again.`,
  repeated: (name) => `${name} is not suspended.`,
});
