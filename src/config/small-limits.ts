import type { Configuration } from '../core/configuration.js';
import type { Source } from '../yaml/source.js';

type Limits = Configuration['limits'];

interface Small {
  key: string;
  amount: (limits: Limits) => number;
  /** A smaller limit refuses ordinary calls. */
  least: number;
  effect: string;
  usual: string;
}

const SMALL: readonly Small[] = [
  {
    key: 'body',
    amount: ({ body_bytes }) => body_bytes,
    least: 100_000,
    effect: 'is less than a request with an image has',
    usual: '20mb',
  },
  {
    key: 'answer',
    amount: ({ answer_bytes }) => answer_bytes,
    least: 1_000_000,
    effect: 'is less than an answer with an image has',
    usual: '64mb',
  },
  {
    key: 'task',
    amount: ({ task_ms }) => task_ms,
    least: 300_000,
    effect: 'is over before most videos are made',
    usual: '24h',
  },
];

/** Many proxies close a connection on which nothing has come for this long. */
const SILENT_MS = 60_000;

/** Warns of comments that come too late to keep a silent stream open. */
export function checkKeepAlive(source: Source, keep_alive_ms: number): void {
  if (keep_alive_ms <= SILENT_MS || !source.has('/keep_alive')) return;
  source.fault('/keep_alive', {
    code: 'long_keep_alive',
    message: `keep_alive: in ${source.word('/keep_alive')} many proxies close a silent stream`,
    hint: 'write 15s, or another time below that of your proxy',
    severity: 'warning',
  });
}

/** A shorter drain is most likely one in seconds that is written in milliseconds. */
const SHORT_DRAIN_MS = 1_000;

/** Warns of a drain that cuts running answers at each restart. */
export function checkDrain(source: Source, drain_ms: number): void {
  const isSet = source.has('/drain') && !source.invalid_pointers.has('/drain');
  if (!isSet || drain_ms === 0 || drain_ms >= SHORT_DRAIN_MS) return;
  source.fault('/drain', {
    code: 'small_limit',
    message: `drain: ${source.word('/drain')} cuts running answers at each restart`,
    hint: `did you mean "${drain_ms}s"?`,
    severity: 'warning',
  });
}

/** Warns of limits that refuse ordinary calls, as those of another unit do. */
export function checkSmallLimits(source: Source, limits: Limits): void {
  for (const { key, amount, least, effect, usual } of SMALL) {
    const place = `/limits/${key}`;
    if (!source.has(place) || source.unread.has(place) || amount(limits) >= least) continue;
    source.fault(place, {
      code: 'small_limit',
      message: `limits.${key}: ${source.word(place)} ${effect}`,
      hint: `write a larger one, such as ${usual}`,
      severity: 'warning',
    });
  }
}
