import type { Modalities, PriceUnit } from '../pipeline/modality.js';
import type { PriceEntry } from '../schema-types/gateway.js';
import { isRecord, memoizeByObject } from '../lib/objects.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import { CAPABILITIES, TOKEN_UNITS, type Capability, type Price } from '../core/model.js';
import { readDollars, readTokenPrices } from '../yaml/dollars.js';
import { listedWork } from './model-work.js';
import { hoursBlocks, readOffPeak, type ReadUnits } from './off-peak.js';

/** A price in nano-dollars, from the file's own digits. */
export function readPrice(
  source: Source,
  pointer: string,
  entry: PartialLoad<PriceEntry>,
  modalities: Modalities,
): Price {
  const amounts = typeof entry === 'object' ? entry : {};
  const readUnits: ReadUnits = (place, block) => unitPrices(source, place, block, modalities);
  const price: Price = {
    free: entry === 'free',
    input_nano_per_million: 0n,
    output_nano_per_million: 0n,
    ...readUnits(pointer, amounts),
  };
  for (const [unit, amount] of Object.entries(amounts)) {
    if (!Object.hasOwn(TOKEN_UNITS, unit)) checkAmounts(source, pointer + join(unit), amount);
  }
  if (amounts.input_per_million !== undefined && amounts.output_per_million === undefined) {
    price.input_only = true;
  }
  const hours = pointer + join('off_peak');
  const off_peak = readOffPeak(source, hours, amounts.off_peak, price, readUnits);
  if (off_peak.length > 0) price.off_peak = off_peak;
  if (amounts.per_request !== undefined) {
    price.per_request = readDollars(source, pointer + join('per_request'));
  }
  return price;
}

function unitPrices(
  source: Source,
  pointer: string,
  entry: PartialLoad<PriceEntry>,
  modalities: Modalities,
): Partial<Price> {
  const amounts = typeof entry === 'object' ? entry : {};
  const prices: Partial<Price> = readTokenPrices(source, pointer, amounts);
  for (const { unit, read } of readersOf(modalities)) {
    if (Object.hasOwn(amounts, unit)) {
      Object.assign(prices, read(source, pointer + join(unit), amounts));
    }
  }
  return prices;
}

/** The units of modalities that are not of tokens, each with its own way to read it. */
const readersOf = memoizeByObject((modalities: Modalities) =>
  [...modalities.values()].flatMap(({ configuration: { units } }) =>
    Object.entries(units).flatMap(([unit, { read }]) => (read ? [{ unit, read }] : [])),
  ),
);

/** What the price of any kind of work may have. */
const TERM: PriceUnit = { pays: CAPABILITIES, is_class: true };
const TERMS = ['off_peak', 'per_request'] as const;

interface KnownUnit {
  pays: Capability[];
  units: PriceUnit[];
}

/** All units by name, each with its definition in every modality that has it. */
const unitsOf = memoizeByObject((modalities: Modalities) => {
  const all = new Map<string, KnownUnit>();
  for (const name of TERMS) all.set(name, { pays: [...TERM.pays], units: [TERM] });
  for (const { configuration } of modalities.values()) {
    for (const [name, unit] of Object.entries(configuration.units)) {
      const known = all.get(name) ?? { pays: [], units: [] };
      known.pays.push(...unit.pays);
      known.units.push(unit);
      all.set(name, known);
    }
  }
  return all;
});

/**
 * Every capability must be paid for by a unit, and every unit must pay for a capability.
 * `hintOf` knows more of a missing unit than an example.
 */
export function checkUnits(
  source: Source,
  pointer: string,
  entry: PartialLoad<PriceEntry>,
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
  hintOf: (unit: string) => string | undefined,
): void {
  if (typeof entry !== 'object') return;
  const units = unitsOf(modalities);
  const given = source.keys(pointer) ?? [];
  // An unknown key has a fault already, and is most likely the unit that seems to be missing.
  const isKnown = given.every((key) => units.has(key));
  const all = isKnown ? missingUnits(given, capabilities, modalities) : [];
  // A capability of no use here, such as tools without chat, has a fault of its own.
  const missing = all.filter(([, capability]) => isOfUse(capability, capabilities, modalities));
  const unfit = given.filter((unit) => {
    return units.get(unit)?.pays.some((one) => capabilities.has(one)) === false;
  });
  // Units of another capability stand in the place of those that are missing: one fault for all.
  const isOther = missing.length > 0 && unfit.length > 0;
  for (const unit of isOther ? unfit.slice(0, 1) : unfit) {
    const listed = [...capabilities].join(', ');
    const message = `the price ${quote(unit)} fits none of the capabilities: ${listed}`;
    const { pays = [], units: [one] = [] } = units.get(unit) ?? {};
    const right = missing.map(([name]) => `${name}: ${exampleOf(name)}`).join(', ');
    const place = unfit.length === 1 ? 'it' : unfit.join(' and ');
    const why = one?.why ?? `it pays for ${pays.join(', ')}`;
    const hint = isOther ? `write ${right} in place of ${place}` : `remove it: ${why}`;
    source.fault(pointer + join(unit), { code: 'price_unit', message, hint, at: 'key' });
  }
  for (const [unit, capability] of isOther ? [] : missing) {
    const message = `the capability ${quote(capability)} has no price: ${quote(unit)} is missing`;
    const hint = hintOf(unit) ?? `add ${unit}, in dollars, such as ${unit}: ${exampleOf(unit)}`;
    source.fault(pointer, { code: 'missing_price', message, hint });
  }
  for (const [place] of hoursBlocks(pointer + join('off_peak'), entry.off_peak)) {
    checkHours(source, place, given, capabilities, units);
  }
}

/**
 * Hours change the prices that the call has outside of them: each unit must be one of these, or a
 * class of tokens that fits the capabilities.
 */
function checkHours(
  source: Source,
  pointer: string,
  given: readonly string[],
  capabilities: ReadonlySet<Capability>,
  known: ReadonlyMap<string, KnownUnit>,
): void {
  for (const unit of source.keys(pointer) ?? []) {
    const { pays = [], units = [] } = known.get(unit) ?? {};
    const paysHere = pays.some((one) => capabilities.has(one));
    const isClass = units.some(({ is_class }) => is_class);
    if (units.length === 0 || given.includes(unit) || (isClass && paysHere)) continue;
    source.fault(pointer + join(unit), {
      code: 'price_unit',
      message: `off_peak: the price has no ${unit} outside of these hours`,
      hint: paysHere ? 'add it there too' : `remove it: it pays for ${pays.join(', ')}`,
      at: 'key',
    });
  }
}

/** Whether the capability is the name of a modality, or refines one that is listed. */
function isOfUse(
  capability: Capability,
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
): boolean {
  return [...modalities.values()].some(
    ({ name, configuration: { refinements } }) =>
      name === capability || (capabilities.has(name) && refinements.includes(capability)),
  );
}

/** Amounts for hints, for units where 0.60 is unusual. */
const EXAMPLE_AMOUNTS: Readonly<Record<string, string>> = {
  input_per_million: '0.15',
  per_image: '0.04',
  per_video_second: '0.10',
  per_audio_minute: '0.006',
  per_million_characters: '15.00',
};

function exampleOf(unit: string): string {
  return EXAMPLE_AMOUNTS[unit] ?? '0.60';
}

/** A price for a hint, with the units that capabilities must have. */
export function examplePrice(
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
): string {
  const missing = missingUnits([], capabilities, modalities).map(([unit]) => unit);
  const units = missing.length > 0 ? missing : ['input_per_million', 'output_per_million'];
  return `{ ${units.map((unit) => `${unit}: ${exampleOf(unit)}`).join(', ')} }`;
}

/** The units that a price lacks, each with a capability that nothing else pays for. */
function missingUnits(
  given: readonly string[],
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
): [unit: string, Capability][] {
  const missing: [unit: string, Capability][] = [];
  for (const [name, { pays, units }] of unitsOf(modalities)) {
    if (given.includes(name) || units.at(-1)?.is_class) continue;
    if (!pays.some((one) => capabilities.has(one))) continue;
    const paid = units
      .filter((unit) => unit.isWanted?.(given) !== false)
      .flatMap((unit) => unit.pays)
      .find((capability) => capabilities.has(capability));
    if (paid !== undefined) missing.push([name, paid]);
  }
  return missing;
}

/** Reports each capability that has no unit in the list price that its model is to pay. */
export function checkListUnits(
  source: Source,
  pointer: string,
  { model, units }: { model: string; units: readonly string[] },
  capabilities: ReadonlySet<Capability>,
  modalities: Modalities,
): void {
  for (const [unit, capability] of missingUnits(units, capabilities, modalities)) {
    const missing = `the list price of ${quote(model)} has no ${quote(unit)}`;
    const message = `the capability ${quote(capability)} has no price: ${missing}`;
    const isInputOnly = unit === 'output_per_million';
    const work = isInputOnly ? listedWork(false, modalities) : undefined;
    const hint = work ? `write capabilities: [${work.name}]` : 'write the prices';
    source.fault(pointer, { code: 'missing_price', message, hint });
  }
}

/** Reports each wrong amount of a unit that may have several. */
function checkAmounts(source: Source, pointer: string, value: unknown): void {
  if (typeof value === 'number') readDollars(source, pointer);
  else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      checkAmounts(source, pointer + join(key), inner);
    }
  }
}
