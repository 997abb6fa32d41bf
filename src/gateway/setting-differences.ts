import type { Configuration } from '../core/configuration.js';
import { isOtherStore } from './start-settings.js';

interface SettingDifferences {
  losses: string[];
  changes: string[];
}

/** Lists, in sentences, what clients notice of the settings that a reload applies. */
export function settingDifferences(
  before: Configuration,
  after: Configuration,
): SettingDifferences {
  const found: SettingDifferences = { losses: [], changes: [] };
  const isOpen = after.cors.includes('*');
  const gone = before.cors.filter((origin) => !isOpen && !after.cors.includes(origin));
  found.losses.push(...gone.map((origin) => `cors: pages of ${origin} may no longer call`));
  const names = Object.keys({
    ...before.headers,
    ...after.headers,
  }) as (keyof typeof after.headers)[];
  for (const name of names) {
    if (before.headers[name] === after.headers[name]) continue;
    // `upstream` names the upstreams to clients: an operator must see that it was turned on.
    if (after.headers[name]) found.changes.push(`answers have the header tollgate-${name}`);
    else found.losses.push(`answers have no header tollgate-${name} any more`);
  }
  const more = after.cors.filter((origin) => !before.cors.includes(origin));
  found.changes.push(...more.map((origin) => `cors: pages of ${origin} may call now`));
  if (before.dashboard && !after.dashboard) found.losses.push('the dashboard is gone');
  if (!before.dashboard && after.dashboard) found.changes.push('the dashboard is served now');
  return found;
}

/** Lists, in sentences, what another address or store means to clients. */
export function startDifferences(before: Configuration, after: Configuration): string[] {
  const found: string[] = [];
  if (before.public_url !== after.public_url) {
    found.push(`the gateway is at ${after.public_url}, ${before.public_url} before`);
  }
  if (isOtherStore(before, after)) {
    found.push('the store is another one, which has accounts, keys and balances of its own');
  }
  return found;
}
