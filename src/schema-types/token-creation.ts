// Made by `npm run types` from schemas/token-creation.schema.json.

/** The form for a management token: which program it is for, and what that may do. */
export interface TokenCreation {
  /** text of one line, 1 to 100 characters, all of which can be seen */
  name: string;
  /** what it may do */
  scopes: string[];
  /** seconds until it expires; it does not where this is left out */
  expires_in_s?: number;
}
