// Made by `npm run types` from schemas/ledger-query.schema.json.

/** GET /api/ledger: which page, or which entries. */
export interface LedgerQuery {
  /** next_cursor of the page before */
  cursor?: string;
  /** entries on a page; 50 where it is left out */
  limit?: number;
  /** only what was entered under it: a request's x-request-id, a task's request_id */
  reference?: string;
}
