// Made by `npm run types` from schemas/account-credit.schema.json.

/** POST /api/accounts/{id}/credit: the same reference twice credits once. */
export interface AccountCredit {
  /** an amount in dollars such as "10.00"; below zero to take it away */
  amount: string;
  /** text of one line that names this credit, such as an invoice's number */
  reference: string;
}
