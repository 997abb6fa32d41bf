import { nearestWord } from './did-you-mean.js';
import { label, quote, type Source } from './source.js';

export const DEFAULT_TIME_ZONE = 'UTC';

/** Reads the name of a zone. An unknown one is a fault with the right word. */
export function readTimeZone(source: Source, pointer: string, written = DEFAULT_TIME_ZONE): string {
  if (isTimeZone(written)) return written;
  const near = nearestZone(written);
  source.fault(pointer, {
    code: 'unknown_time_zone',
    message: `${label(pointer)}: ${source.word(pointer)} is no time zone`,
    hint:
      near === undefined
        ? 'write UTC, or the name of a zone such as Europe/Zurich'
        : `did you mean ${quote(near)}?`,
  });
  return DEFAULT_TIME_ZONE;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The zone that a wrong name may mean: by a whole name, or by a city alone. */
function nearestZone(written: string): string | undefined {
  const zones = [DEFAULT_TIME_ZONE, ...Intl.supportedValuesOf('timeZone')];
  const cities = new Map(zones.map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]));
  const city = nearestWord(written.slice(written.lastIndexOf('/') + 1), [...cities.keys()]);
  return nearestWord(written, zones) ?? (city === undefined ? undefined : cities.get(city));
}
