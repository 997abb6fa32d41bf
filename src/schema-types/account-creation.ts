// Made by `npm run types` from schemas/account-creation.schema.json.

/** POST /api/accounts: who it is for, and what it begins with. */
export interface AccountCreation {
  /** text of one line, 1 to 100 characters, all of which can be seen */
  name: string;
  /** an amount in dollars such as "10.00" */
  credit?: string;
}
