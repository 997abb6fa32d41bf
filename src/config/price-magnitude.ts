import { formatDollars } from '../lib/money.js';
import type { Source } from '../yaml/source.js';

const NANO = 1_000_000_000n;
/** The lowest and the highest price of a million tokens at any provider. */
const CHEAPEST_NANO = NANO / 1_000n;
const DEAREST_NANO = 1_000n * NANO;
/** Few models have a higher price of a million tokens. */
const DEAR_TOKENS_NANO = 200n * NANO;

/** The highest price of other units at any provider: a higher one is most likely in cents. */
export const DEAREST_UNIT_NANO = {
  per_image: 2n * NANO,
  per_video_second: NANO,
  per_audio_minute: (36n * NANO) / 1_000n,
} as const;

/** A mistake that a price beyond a bound looks like, and the price that is then meant. */
interface Slip {
  above?: bigint;
  below?: bigint;
  like: string;
  hint: (nano: bigint) => string;
}

const ifSo = (meant: (nano: bigint) => bigint) => (nano: bigint) =>
  `if so write ${formatDollars(meant(nano))}; else leave it`;

const CENTS = 'dollars look like cents';

/** The first slip that fits a price counts. */
const SLIPS: Readonly<Record<string, readonly Slip[]>> = {
  per_image: [
    { above: 2n * NANO, like: CENTS, hint: ifSo((nano) => nano / 100n) },
    {
      below: NANO / 2_000n,
      like: 'dollars are less than an image costs anywhere',
      hint: () => 'write the dollars for one image, such as 0.04',
    },
  ],
  per_video_second: [
    { above: 10n * NANO, like: CENTS, hint: ifSo((nano) => nano / 100n) },
    {
      above: NANO,
      like: 'dollars look like the price of a whole video',
      hint: (nano) => `if so write that of a second: ${formatDollars(nano / 8n)} for 8 seconds`,
    },
  ],
  per_audio_minute: [
    { above: 5n * NANO, like: CENTS, hint: ifSo((nano) => nano / 100n) },
    {
      above: DEAREST_UNIT_NANO.per_audio_minute,
      like: 'dollars look like the price of an hour',
      hint: ifSo((nano) => nano / 60n),
    },
    {
      below: (3n * NANO) / 10_000n,
      like: 'dollars look like the price of a second',
      hint: ifSo((nano) => nano * 60n),
    },
  ],
  per_million_characters: [
    { above: DEAREST_NANO, like: CENTS, hint: ifSo((nano) => nano / 100n) },
    {
      below: CHEAPEST_NANO,
      like: 'looks like the price of one character',
      hint: ifSo((nano) => nano * 1_000_000n),
    },
    {
      below: NANO / 10n,
      like: 'looks like the price of a thousand characters',
      hint: ifSo((nano) => nano * 1_000n),
    },
  ],
};

/**
 * Warns of a price that looks like that of another unit, or like one in cents. Returns whether it
 * does. `kinds` has all amounts of the unit, where it has several.
 */
export function checkMagnitude(
  source: Source,
  place: string,
  unit: string,
  nano: bigint,
  kinds: ReadonlyMap<string, bigint> = new Map(),
): boolean {
  if (nano === 0n) return false;
  const slip = unit.endsWith('_per_million')
    ? tokenSlip(nano)
    : SLIPS[unit]?.find(({ above = nano, below = nano }) => nano > above || nano < below);
  if (!slip) return false;
  source.fault(place, {
    code: 'price_magnitude',
    message: `${unit}: ${source.word(place)} ${slip.like}`,
    hint: slip.like === CENTS && isFlat(kinds) ? inDollars(kinds) : slip.hint(nano),
    severity: 'warning',
  });
  return true;
}

/** Whether there are several kinds, and none has kinds of its own. */
function isFlat(kinds: ReadonlyMap<string, bigint>): boolean {
  return kinds.size > 1 && [...kinds.keys()].every((kind) => /^\w+$/.test(kind));
}

/** All amounts of a unit as dollars: if one is in cents, the others are. */
function inDollars(kinds: ReadonlyMap<string, bigint>): string {
  const all = [...kinds].map(([kind, nano]) => `${kind}: ${formatDollars(nano / 100n)}`);
  return `if so write { ${all.join(', ')} }; else leave it`;
}

function tokenSlip(nano: bigint): Slip | undefined {
  if (nano < CHEAPEST_NANO) {
    const [one, thousand] = [nano * 1_000_000n, nano * 1_000n].map(formatDollars);
    if (nano * 1_000_000n > DEAR_TOKENS_NANO) {
      const like = 'for a million tokens looks like the price of a thousand';
      return { like, hint: () => `if so write ${thousand}; else leave it` };
    }
    const hint = `if it is that of one token write ${one}, if of a thousand ${thousand}`;
    return { like: 'for a million tokens looks like the price of one', hint: () => hint };
  }
  if (nano <= DEAR_TOKENS_NANO) return undefined;
  const like = 'for a million tokens looks like a thousand times what is meant';
  return { like, hint: ifSo((dear) => dear / 1_000n) };
}
