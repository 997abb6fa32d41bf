import { DAY_MINUTES, WEEKDAYS, type OffPeakPrices, type Price } from '../core/model.js';
import type { OffPeakEntry, PriceEntry } from '../schema-types/gateway.js';
import { pointer as join, type Source } from '../yaml/source.js';
import { readTimeZone } from '../yaml/time-zone.js';
import type { PartialLoad } from '../yaml/validate.js';

/** Reads the amounts of a price, or of a block of one, that are by unit. */
export type ReadUnits = (pointer: string, entry: PartialLoad<PriceEntry>) => Partial<Price>;

type Entry = PartialLoad<OffPeakEntry> | undefined;
type HoursEntry = PartialLoad<Exclude<OffPeakEntry, readonly unknown[]>>;

/** The blocks of a list, or the one that stands without a list, each with its place. */
export function hoursBlocks(pointer: string, entry: Entry): [place: string, block: HoursEntry][] {
  if (entry === undefined) return [];
  if (!isList(entry)) return [[pointer, entry]];
  return entry.flatMap((one, at) => hoursBlocks(pointer + join(at), one));
}

/** Reads hours of a price that has these prices outside of them. */
export function readOffPeak(
  source: Source,
  pointer: string,
  entry: Entry,
  price: Price,
  readUnits: ReadUnits,
): OffPeakPrices[] {
  return hoursBlocks(pointer, entry).flatMap(([place, block]) => {
    const hours = readHours(source, place, block, readUnits);
    if (hours) checkKinds(source, place, hours, price);
    return hours ?? [];
  });
}

function readHours(
  source: Source,
  pointer: string,
  entry: HoursEntry,
  readUnits: ReadUnits,
): OffPeakPrices | undefined {
  const { days, from, to, zone: _, ...amounts } = entry;
  const isWhole = from === undefined && to === undefined;
  if (isWhole && days === undefined) {
    // A key that is there has a fault of its own.
    if (source.keys(pointer)?.some((key) => HOURS.includes(key))) return undefined;
    source.fault(pointer, {
      code: 'missing_key',
      message: 'off_peak says neither hours nor days',
      hint: "add from: '16:30' and to: '00:30', or days: [sat, sun]",
    });
    return undefined;
  }
  if (!isWhole && (from === undefined || to === undefined)) return undefined;
  const zone = readTimeZone(source, pointer + join('zone'), entry.zone);
  const from_minute = from === undefined ? 0 : minuteIn(from);
  const to_minute = to === undefined ? DAY_MINUTES : minuteIn(to);
  if (from_minute === to_minute) {
    source.fault(pointer + join('to'), {
      code: 'wrong_value',
      message: 'off_peak: from and to are the same time, so it has no hours',
      hint: 'write when the other prices begin again, or leave both out for whole `days`',
    });
  }
  const prices = readUnits(pointer, amounts);
  if (Object.keys(prices).length === 0) {
    const hint = 'add one, such as input_per_million: 0.14';
    source.fault(pointer, { code: 'missing_price', message: 'off_peak has no price', hint });
  }
  const on = days && { days: WEEKDAYS.filter((day) => days.includes(day)) };
  return { ...on, from_minute, to_minute, zone, ...prices };
}

const HOURS = ['days', 'from', 'to'];

function isList<Item>(value: object | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value);
}

/** The minutes since midnight of a time such as 16:30. */
function minuteIn(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** Prices by kind, for which hours must have the same kinds as the other time of the day. */
const BY_KIND = ['per_image', 'per_video_second'] as const;

/** Reports each price of hours that has other kinds of images or videos than the price itself. */
function checkKinds(source: Source, pointer: string, hours: OffPeakPrices, price: Price): void {
  for (const unit of BY_KIND) {
    const [plain, own] = [price[unit], hours[unit]];
    if (!plain || !own) continue;
    const kinds = [...plain.keys()];
    if (plain.size === own.size && kinds.every((kind) => own.has(kind))) continue;
    source.fault(pointer + join(unit), {
      code: 'mixed_price',
      message: `off_peak: ${unit} has other kinds than the price outside of these hours`,
      hint: `give a price to each of ${kinds.join(', ')}, and to no other`,
      at: 'key',
    });
  }
}
