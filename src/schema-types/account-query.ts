// Made by `npm run types` from schemas/account-query.schema.json.

/** GET /api/accounts: which page. */
export interface AccountQuery {
  /** next_cursor of the page before */
  cursor?: string;
  /** accounts on a page; 50 where it is left out */
  limit?: number;
}
