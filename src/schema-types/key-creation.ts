// Made by `npm run types` from schemas/key-creation.schema.json.

/** POST /api/keys: what the new key is for, and what it may do. */
export interface KeyCreation {
  /** text of one line, 1 to 100 characters, all of which can be seen */
  name: string;
  /** seconds until it expires; or say when, by expires */
  expires_in_s?: number;
  /** a time such as 2026-12-31T23:59:59Z */
  expires?: string;
  /** the only models that it may use; all where this is left out */
  models?: string[];
  /** an amount in dollars such as "10.00", the most it may spend in all its life */
  limit?: string;
}
