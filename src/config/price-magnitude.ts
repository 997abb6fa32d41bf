import { formatDollars } from '../lib/money.js';
import type { Source } from '../yaml/source.js';

const NANO = 1_000_000_000n;
/** The lowest and the highest price of a million tokens at any provider. */
const CHEAPEST_NANO = NANO / 1_000n;
const DEAREST_NANO = 1_000n * NANO;

/** The highest price of other units at any provider: a higher one is most likely in cents. */
export const DEAREST_UNIT_NANO = {
  per_image: 2n * NANO,
  per_video_second: 5n * NANO,
  per_audio_minute: NANO / 5n,
} as const;

/** Warns of a price for a million tokens that looks like that of one, or of a thousand times it. */
export function checkMagnitude(source: Source, place: string, unit: string, nano: bigint): void {
  const addFault = (like: string, hint: string): void =>
    source.fault(place, {
      code: 'price_magnitude',
      message: `${unit}: ${source.word(place)} ${like}`,
      hint,
      severity: 'warning',
    });
  const dearest = new Map<string, bigint>(Object.entries(DEAREST_UNIT_NANO)).get(unit);
  if (dearest !== undefined && nano > dearest) {
    const dollars = formatDollars(nano / 100n);
    if (unit === 'per_audio_minute' && nano <= 5n * NANO) {
      const minute = formatDollars(nano / 60n);
      addFault(
        'dollars look like the price of an hour',
        `if they are, write ${minute}; else leave it`,
      );
    } else addFault('dollars look like cents', `if they are, write ${dollars}; else leave it`);
  }
  if (unit === 'per_million_characters' && nano > 0n && nano < NANO / 10n) {
    const million = formatDollars(nano * 1_000n);
    addFault('looks like the price of a thousand characters', `if it is, write ${million}`);
  }
  if (!unit.endsWith('_per_million') || nano === 0n) return;
  if (nano < CHEAPEST_NANO) {
    const [one, thousand] = [nano * 1_000_000n, nano * 1_000n].map(formatDollars);
    const hint = `if it is that of one token write ${one}, if of a thousand ${thousand}`;
    addFault('for a million tokens looks like the price of one', hint);
  } else if (nano > DEAREST_NANO) {
    const like = 'for a million tokens looks like a thousand times what is meant';
    addFault(like, 'prices are in dollars for a million tokens');
  }
}
