import type { ConfigFault } from '../core/config-fault.js';

/** The file has faults, so nothing was started, or nothing was changed. */
export class ConfigError extends Error {
  override name = 'FaultyConfiguration';
  constructor(readonly faults: readonly ConfigFault[]) {
    super('The configuration has faults.');
  }
}
