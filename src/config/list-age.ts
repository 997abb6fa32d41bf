import type { Configuration } from '../core/configuration.js';
import { memoizeByObject } from '../lib/objects.js';
import type { ListAge } from '../lib/old-list.js';
import type { Modalities } from '../pipeline/modality.js';
import { Report } from '../yaml/report.js';
import { pricesBeside } from './list-prices.js';

const DAY_MS = 86_400_000;

/** How old the list prices of a configuration are. Null if no upstream has one. */
export async function listAge(
  configuration: Configuration,
  modalities: Modalities,
  now_ms: number,
): Promise<ListAge | null> {
  const date = await oldestDate(modalities)(configuration);
  if (date === undefined) return null;
  return { date, days: Math.max(0, Math.floor((now_ms - Date.parse(date)) / DAY_MS)) };
}

const oldestDate = memoizeByObject((modalities: Modalities) =>
  memoizeByObject(async ({ directory, models }: Configuration): Promise<string | undefined> => {
    // What is wrong with the list beside the file is told where that is checked.
    const prices = await pricesBeside(directory, new Report());
    const dates = [...models.values()].flatMap(({ upstreams }) =>
      upstreams.flatMap((upstream) => prices.find(upstream, modalities)?.date ?? []),
    );
    return dates.toSorted()[0];
  }),
);
