import { createAccount } from './account-create.js';
import { editAccount } from './account-edit.js';
import { creditAccount } from './account-credit.js';
import { listAccounts } from './account-list.js';
import { showAccount, showOwnAccount } from './account-show.js';
import { resumeAccount, suspendAccount } from './account-suspension.js';
import type { Action } from './action.js';
import { listBoxes } from './box-list.js';
import { listChanges } from './audit-list.js';
import { refundCharge } from './charge-refund.js';
import { showConfiguration } from './configuration-show.js';
import { createKey } from './key-create.js';
import { editKey } from './key-edit.js';
import { listKeys } from './key-list.js';
import { revokeKey } from './key-revoke.js';
import { rotateKey } from './key-rotate.js';
import { showCallingKey } from './key-show.js';
import { listLedger } from './ledger-list.js';
import { listModels } from './model-list.js';
import { listProviders } from './provider-list.js';
import { resumeProvider } from './provider-resume.js';
import { listRequests, showRequest } from './request-list.js';
import { createSignInLink } from './sign-in-link-create.js';
import { listTasks, showTask } from './task-list.js';
import { createToken } from './token-create.js';
import { listTokens } from './token-list.js';
import { revokeToken } from './token-revoke.js';
import { showProfit } from './profit-show.js';
import { showUsage } from './usage-show.js';

/** The texts of the commands that group others, by the first word of their names. */
export const GROUPS: Readonly<Record<string, { about: string; example: string }>> = {
  account: {
    about: 'make, list, limit, suspend and resume accounts',
    example: 'tollgate account list',
  },
  key: {
    about: 'make, list, edit, rotate and revoke API keys',
    example: 'tollgate key list alice',
  },
  box: { about: 'look at the boxes that serve this store', example: 'tollgate box list' },
  provider: {
    about: 'call a provider again that is left alone',
    example: 'tollgate provider resume openai',
  },
  task: { about: 'look at video tasks', example: 'tollgate task list' },
  token: {
    about: 'make, list and revoke tokens for programs that manage accounts',
    example: 'tollgate token list',
  },
};

/** All actions, in the order of the commands' help. */
export const ACTIONS: readonly Action[] = [
  showOwnAccount,
  showCallingKey,
  showUsage,
  showProfit,
  createAccount,
  listAccounts,
  showAccount,
  editAccount,
  suspendAccount,
  resumeAccount,
  creditAccount,
  refundCharge,
  createKey,
  listKeys,
  editKey,
  rotateKey,
  revokeKey,
  listLedger,
  listModels,
  createSignInLink,
  listRequests,
  showRequest,
  listTasks,
  showTask,
  createToken,
  listTokens,
  revokeToken,
  listChanges,
  listBoxes,
  listProviders,
  resumeProvider,
  showConfiguration,
];
