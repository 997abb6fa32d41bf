import type { Modalities } from '../pipeline/modality.js';
import type { PriceEntry } from '../schema-types/gateway.js';
import { isRecord } from '../lib/is-record.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Capability, Price } from '../core/model.js';
import { readDollars } from '../yaml/dollars.js';

type PriceAmounts = Exclude<PartialLoad<PriceEntry>, string>;

const TOKEN_UNITS = ['input_per_million', 'output_per_million'];

/** A price in nano-dollars, from the file's own digits. */
export function readPrice(
  source: Source,
  pointer: string,
  entry: PartialLoad<PriceEntry>,
  modalities: Modalities,
): Price {
  const amounts = typeof entry === 'object' ? entry : {};
  readLeaves(source, pointer, amounts);
  const nano = (unit: 'input_per_million' | 'output_per_million') =>
    amounts[unit] === undefined ? 0n : readDollars(source, pointer + join(unit));
  const price: Price = {
    free: entry === 'free',
    input_nano_per_million: nano('input_per_million'),
    output_nano_per_million: nano('output_per_million'),
    ...(isInputOnly(amounts) && { input_only: true }),
  };
  for (const { units } of modalities.values()) {
    for (const [unit, { read }] of Object.entries(units)) {
      Object.assign(price, read?.(source, pointer + join(unit), amounts));
    }
  }
  return price;
}

function isInputOnly({ input_per_million: input, output_per_million: output }: PriceAmounts) {
  return input !== undefined && output === undefined;
}

/** The capabilities that each unit pays for. A unit that is wanted must be there. */
function unitsOf(modalities: Modalities): Map<string, Capability[]> {
  const all = new Map<string, Capability[]>();
  for (const { units } of modalities.values()) {
    for (const [unit, { pays }] of Object.entries(units)) {
      all.set(unit, [...(all.get(unit) ?? []), ...pays]);
    }
  }
  return all;
}

/** Every capability must be paid for by a unit, and every unit must pay for a capability. */
export function checkUnits(
  source: Source,
  pointer: string,
  entry: PartialLoad<PriceEntry>,
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
): void {
  const units = unitsOf(modalities);
  if (typeof entry !== 'object') return;
  const given = source.keys(pointer) ?? [];
  // A key that is no unit at all is told already, and may well be the one that seems to be missing.
  const complete = given.every((key) => units.has(key));
  const listed = [...capabilities].join(', ');
  for (const [unit, pays] of units) {
    const has = pays.filter((capability) => capabilities.has(capability));
    const paid = has.find((capability) => capability !== 'image' || isWanted(unit, given));
    if (has.length === 0 && given.includes(unit)) {
      const message = `the price ${quote(unit)} fits none of the capabilities: ${listed}`;
      const hint = `it pays for ${pays.join(', ')}`;
      source.fault(pointer + join(unit), { code: 'price_unit', message, hint, at: 'key' });
    }
    if (paid !== undefined && complete && !given.includes(unit)) {
      const message = `the capability ${quote(paid)} has no price: ${quote(unit)} is missing`;
      source.fault(pointer, { code: 'missing_price', message, hint: `add ${unit}` });
    }
  }
}

/** Images are paid for one by one, or by their tokens, or by both. */
function isWanted(unit: string, given: readonly string[]): boolean {
  return TOKEN_UNITS.includes(unit) === TOKEN_UNITS.some((one) => given.includes(one));
}

function readLeaves(source: Source, pointer: string, value: object): void {
  for (const [key, inner] of Object.entries(value)) {
    const place = pointer + join(key);
    if (typeof inner === 'number') readDollars(source, place);
    else if (isRecord(inner)) readLeaves(source, place, inner);
  }
}
