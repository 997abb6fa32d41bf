// Made by `npm run types` from schemas/account-refund.schema.json.

/** POST /api/accounts/{id}/refunds: the same reference twice refunds once. */
export interface AccountRefund {
  /** the x-request-id of the charged request, or a task's request_id */
  request_id: string;
  /** an amount in dollars such as "0.10"; what is left of the charge where it is left out */
  amount?: string;
  /** text of one line that names this refund; made of request and amount where it is left out */
  reference?: string;
}
