// Made by `npm run types` from schemas/usage-query.schema.json.

/** GET /api/usage: which days, and how to sum them up. */
export interface UsageQuery {
  /** a day such as 2026-11-01 (UTC); 30 days up to the last one where it is left out */
  from?: string;
  /** a day such as 2026-11-30 (UTC), itself included; today where it is left out */
  to?: string;
  /** what a row is about */
  by?: 'day' | 'model' | 'key';
  /** only calls of this model */
  model?: string;
  /** only calls by the key of this ID */
  key?: string;
  /** json, or a file for spreadsheets */
  format?: 'json' | 'csv';
}
