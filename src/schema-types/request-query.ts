// Made by `npm run types` from schemas/request-query.schema.json.

/** GET /api/requests: which page, or which requests. */
export interface RequestQuery {
  /** next_cursor of the page before */
  cursor?: string;
  /** requests on a page; 50 where it is left out */
  limit?: number;
  /** from this day, minute or moment of UTC on, such as 2026-11-20T14:05 */
  from?: string;
  /** before this minute or moment of UTC, or up to the end of this day */
  to?: string;
  /** a status such as 502, its class such as 5xx, or failed */
  status?: string;
  /** only requests for this model */
  model?: string;
  /** only requests by the key of this ID */
  key?: string;
  /** only requests of the account of this ID; for operators and tokens */
  account?: string;
  /** only requests that ended at this provider; for operators and tokens */
  provider?: string;
}
