import type { ConfigFault } from '../core/config-fault.js';

/** The file has faults, so the gateway did not start, or kept its configuration. */
export class ConfigError extends Error {
  override name = 'FaultyConfiguration';
  constructor(readonly faults: readonly ConfigFault[]) {
    super('The configuration has faults.');
  }
}
