import type { Logger } from 'pino';
import type { Checked } from '../check.js';
import type { Configuration } from '../config/types.js';
import type { Health } from '../health.js';
import type { Store } from '../store/types.js';

/** A person who is signed in, as every page and management route sees them. */
export interface Session {
  account_id: string;
  account_name: string;
  /** The address the identity provider vouched for; null for a sign-in link. */
  email: string | null;
  /** May see and change every account. */
  operator: boolean;
}

/** What the dashboard may use. One value for each configuration, like a stage's services. */
export interface DashboardServices {
  configuration: Configuration;
  store: Store;
  log: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
  health: Health;
  faults: Checked['faults'];
}
