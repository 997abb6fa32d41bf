import type { Configuration } from '../core/configuration.js';
import { formatDuration, formatSize } from './config-units.js';
import { restartKeys } from './start-settings.js';

type Limits = Configuration['limits'];

/** The limits of the gateway that its clients meet, by the names that gateway.yaml gives them. */
const LIMITS: readonly [name: string, key: keyof Limits, shown: (value: number) => string][] = [
  ['body', 'body_bytes', formatSize],
  ['body_values', 'body_values', String],
  ['task', 'task_ms', formatDuration],
  ['image_bytes', 'image_bytes', formatSize],
  ['image_ttl', 'image_ttl_ms', formatDuration],
  ['idempotency', 'idempotency_ms', formatDuration],
  ['keys', 'keys', String],
  ['fetch', 'fetch_ms', formatDuration],
  ['fetch_bytes', 'fetch_bytes', formatSize],
  ['fetch_urls', 'fetch_urls', String],
  ['media', 'media_ms', formatDuration],
  ['media_memory', 'media_memory_bytes', formatSize],
];

/** `upstream` names the upstreams to clients, so an operator must see that it was turned on. */
const HEADERS = ['upstream', 'cost', 'attempts'] as const;

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
  for (const [name, key, shown] of LIMITS) {
    const [old, now] = [before.limits[key], after.limits[key]];
    if (now === old) continue;
    const list = now < old ? found.losses : found.changes;
    list.push(`limits.${name} is ${shown(now)}, ${shown(old)} before`);
  }
  const isOpen = after.cors.includes('*');
  const gone = before.cors.filter((origin) => !isOpen && !after.cors.includes(origin));
  found.losses.push(...gone.map((origin) => `cors: pages of ${origin} may no longer call`));
  for (const name of HEADERS) {
    if (before.headers[name] === after.headers[name]) continue;
    if (after.headers[name]) found.changes.push(`answers have the header tollgate-${name}`);
    else found.losses.push(`answers have no header tollgate-${name} any more`);
  }
  if (before.dashboard && !after.dashboard) found.losses.push('the dashboard is gone');
  return found;
}

/** Lists, in sentences, what another address or store means to clients. */
export function startDifferences(before: Configuration, after: Configuration): string[] {
  const found: string[] = [];
  if (before.public_url !== after.public_url) {
    found.push(`the gateway is at ${after.public_url}, ${before.public_url} before`);
  }
  if (restartKeys(before, after).includes('store')) {
    found.push('the store is another one, which has accounts, keys and balances of its own');
  }
  return found;
}
