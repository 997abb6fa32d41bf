import { isRecord } from '../../src/lib/is-record.js';
import type { Block } from './content.js';

/**
 * The block that stands behind what a `cache_control` marks. None where there is no mark; the mark
 * is named in `ignored` where the model would answer 400 to it.
 */
export function cachePoint(control: unknown, isTaken: boolean, ignored: Set<string>): Block[] {
  if (!isRecord(control)) return [];
  if (!isTaken) {
    ignored.add('cache_control');
    return [];
  }
  const { ttl } = control;
  const lasting = ttl === '5m' || ttl === '1h' ? { ttl } : {};
  return [{ cachePoint: { type: 'default', ...lasting } }];
}
