// Made by `npm run types` from schemas/audit-query.schema.json.

/** GET /api/audit: which page, or which changes. */
export interface AuditQuery {
  /** next_cursor of the page before */
  cursor?: string;
  /** changes on a page; 50 where it is left out */
  limit?: number;
  /** only changes of this account, by its ID */
  account?: string;
  /** only changes from this time on, such as 2026-11-01T00:00:00Z */
  since?: string;
}
