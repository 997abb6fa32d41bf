import type { Configuration } from '../core/configuration.js';
import type { AlertsBlock } from '../schema-types/gateway.js';
import { isPrivate } from '../upstream/ssrf-guard.js';
import { readDollars } from '../yaml/dollars.js';
import type { Source } from '../yaml/source.js';
import { readUrl } from '../yaml/urls.js';
import type { PartialLoad } from '../yaml/validate.js';

/** Reads `alerts:`. The operator chooses the receiver, so its address may be private. */
export function readAlerts(
  source: Source,
  block: PartialLoad<AlertsBlock> | undefined,
): Configuration['alerts'] {
  const low_balance_nano =
    block?.low_balance === undefined ? undefined : readDollars(source, '/alerts/low_balance');
  const url = block?.webhook === undefined ? undefined : readWebhook(source, block.webhook);
  if (url === undefined || block?.secret === undefined) return undefined;
  return { url, secret: block.secret, low_balance_nano };
}

function readWebhook(source: Source, webhook: string): string | undefined {
  const url = readUrl(source, '/alerts/webhook', webhook);
  if (url === undefined) return undefined;
  if (url.startsWith('http:') && !isPrivate(new URL(url))) {
    const message = 'alerts.webhook would carry names and amounts in the clear';
    source.fault('/alerts/webhook', { code: 'insecure_url', message, hint: 'use https' });
  }
  return url;
}
